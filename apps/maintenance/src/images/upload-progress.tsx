import { Button, Label, ProgressBar } from 'react-aria-components';
import { size } from '../text/phrases';

interface UploadProgressProps {
  readonly sentBytes: number;
  readonly totalBytes: number;
  readonly onGiveUp: () => void;
}

/** How much of a file was sent, and a way to give it up. */
export function UploadProgress({ sentBytes, totalBytes, onGiveUp }: UploadProgressProps) {
  const isSent = sentBytes >= totalBytes && totalBytes > 0;
  return (
    <>
      <ProgressBar className="progress" value={sentBytes} maxValue={Math.max(1, totalBytes)}>
        {({ percentage, valueText }) => (
          <>
            <Label className="progress-step">
              {isSent ? 'Its digest is being checked' : `Sending: ${size(sentBytes)} of ${size(totalBytes)}`}
            </Label>
            <span className="progress-value">{valueText}</span>
            <div className="progress-track">
              <div className="progress-fill" data-state="running" style={{ width: `${percentage ?? 0}%` }} />
            </div>
          </>
        )}
      </ProgressBar>
      <div className="actions">
        <Button className="button" onPress={onGiveUp}>
          Give up the upload
        </Button>
      </div>
    </>
  );
}
