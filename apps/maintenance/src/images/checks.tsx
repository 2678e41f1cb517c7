import type { SmokeCheckView } from '@inquest/contracts-image';
import { printable } from '@inquest/transcript';
import { Badge } from '../components/badge';
import { CHECK_TONE } from '../components/tone';
import { count } from '../text/phrases';

/** The checks of the smoke gate, each as it became known. */
export function Checks({
  checks,
  isRunning,
}: {
  readonly checks: readonly SmokeCheckView[];
  readonly isRunning: boolean;
}) {
  if (checks.length === 0) {
    return <p className="absent">{isRunning ? 'The first check ends when the guest is up.' : 'No check was run.'}</p>;
  }
  return (
    <ol className="checks" aria-label={count(checks.length, 'check')}>
      {checks.map(({ name, outcome, detail }) => (
        <li key={name} className="check">
          <Badge tone={CHECK_TONE[outcome]}>{outcome}</Badge>
          <div>
            <p className="check-name">{name}</p>
            <p className="check-detail">{printable(detail)}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}
