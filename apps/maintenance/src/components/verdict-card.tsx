import type { EvidenceQuoteView, VerdictView } from '@inquest/contracts-vm';
import { printable, printableLine } from '@inquest/transcript';
import { Badge } from './badge';
import { Facts } from './facts';
import { verdictTone } from './tone';
import { words } from '../text/phrases';

const BLAME = {
  guest: 'what ran inside the machine',
  host: 'this host',
  caller: 'whoever asked for it',
  none: 'nobody, or not known',
} as const;

/** How a machine ended (or stands), and what that rests on. */
export function VerdictCard({
  verdict,
  isProvisional,
}: {
  readonly verdict: VerdictView;
  readonly isProvisional: boolean;
}) {
  const { class: name, confidence, account, blame, boots, deciding, contributing, warnings } = verdict;
  return (
    <div className="verdict" data-tone={verdictTone(verdict)}>
      <p className="verdict-class">
        <strong>{words(name)}</strong> <Badge tone={verdictTone(verdict)}>{confidence}</Badge>
      </p>
      <p className="verdict-account">{printable(account)}</p>
      {isProvisional && <p className="stale">As of a probe made when this page asked; the machine has not ended.</p>}
      <Facts
        facts={[
          { label: 'Whose doing', value: BLAME[blame] },
          { label: 'Kernel boots seen', value: boots },
        ]}
      />
      <Quotes title="Decided by" quotes={deciding} />
      <Quotes title="Also seen" quotes={contributing} />
      {warnings.length > 0 && (
        <ul className="warnings" aria-label="Gaps in the evidence">
          {warnings.map((warning) => (
            <li key={warning}>{printableLine(warning)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Quotes({ title, quotes }: { readonly title: string; readonly quotes: readonly EvidenceQuoteView[] }) {
  if (quotes.length === 0) return null;
  return (
    <div className="quotes">
      <h3>{title}</h3>
      <ul>
        {quotes.map(({ file, offset, quote }) => (
          <li key={`${file}:${offset}`}>
            <code className="quote">{printableLine(quote)}</code>
            <span className="quote-place">
              {file} at byte {offset}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
