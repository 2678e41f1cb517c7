import { useState } from 'react';
import { Button } from 'react-aria-components';
import type { EvidenceQuoteView } from '@inquest/contracts-vm';
import { printable } from '@inquest/transcript';
import { useEvidenceFile, useEvidenceSize } from '../../api/machines';
import { Console } from '../../components/console';
import { ProblemNotice } from '../../components/notice';
import { size } from '../../text/phrases';
import { isCited, linesOf } from './evidence-lines';

/** How much of the end of a console is shown at first. */
const TAIL_BYTES = 32 * 1024;

interface SerialConsoleProps {
  readonly machineId: string;
  readonly incarnation: number;
  readonly isLive: boolean;
  /** What a verdict quotes, of any file. */
  readonly quotes: readonly EvidenceQuoteView[];
}

/** The end of a machine's serial console, with what its verdict quotes marked. */
export function SerialConsole({ machineId, incarnation, isLive, quotes }: SerialConsoleProps) {
  const head = useEvidenceSize({ machineId, incarnation, file: 'serial.log' }, isLive);
  const tail = useEvidenceSize({ machineId, incarnation, file: 'serial.tail.log' }, isLive);
  const [isWhole, setIsWhole] = useState(false);
  const error = head.error ?? tail.error;
  if (error !== null) return <ProblemNotice error={error} />;
  if (head.data === undefined || tail.data === undefined) {
    return (
      <Console label="Output of the serial console" length={0} emptyText="Loading …">
        {null}
      </Console>
    );
  }
  // A console that outgrew its file has its end in another.
  const file = tail.data > 0 ? 'serial.tail.log' : 'serial.log';
  const sizeBytes = tail.data > 0 ? tail.data : head.data;
  const fromOffset = isWhole ? 0 : Math.max(0, sizeBytes - TAIL_BYTES);
  return (
    <>
      {fromOffset > 0 && (
        <p className="console-cut">
          The first {size(fromOffset)} are not shown.{' '}
          <Button className="button quiet" onPress={() => setIsWhole(true)}>
            Show all of it
          </Button>
        </p>
      )}
      <SerialText {...{ machineId, incarnation, isLive, quotes, file, fromOffset }} />
    </>
  );
}

interface SerialTextProps extends SerialConsoleProps {
  readonly file: 'serial.log' | 'serial.tail.log';
  readonly fromOffset: number;
}

function SerialText({ machineId, incarnation, isLive, quotes, file, fromOffset }: SerialTextProps) {
  const { text, startOffset, isLoaded, problem } = useEvidenceFile(
    { machineId, incarnation, file },
    { isLive, fromOffset },
  );
  const places = quotes.filter((quote) => quote.file === file);
  return (
    <>
      {problem && <ProblemNotice error={problem} />}
      <Console
        label="Output of the serial console"
        length={text.length}
        emptyText={isLoaded ? 'The guest has written nothing to its console.' : 'Loading …'}
      >
        {linesOf(text, startOffset).map((line) => {
          const shown = `${printable(line.text)}\n`;
          return isCited(line, places) ? (
            <mark key={line.offset}>{shown}</mark>
          ) : (
            <span key={line.offset}>{shown}</span>
          );
        })}
      </Console>
    </>
  );
}
