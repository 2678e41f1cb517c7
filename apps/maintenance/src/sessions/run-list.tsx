import { printable, type TranscriptEntry } from '@inquest/transcript';
import { Badge } from '../components/badge';
import { Section } from '../components/page';
import { duration } from '../text/phrases';
import { runsOf } from './runs';

/** What was asked in a session, and what came of it. */
export function RunList({ entries }: { readonly entries: readonly TranscriptEntry[] }) {
  const runs = runsOf(entries);
  return (
    <Section title="Runs">
      {runs.length === 0 && <p className="absent">Nothing was asked yet.</p>}
      <ol className="runs">
        {runs.map(({ runId, prompt, outcome, summary, startedAtMs, endedAtMs }) => (
          <li key={runId} className="run">
            <p className="run-prompt">{printable(prompt)}</p>
            <p className="run-outcome">
              <Badge tone={outcome === null ? 'busy' : outcome === 'done' ? 'good' : 'bad'}>
                {outcome ?? 'at work'}
              </Badge>{' '}
              {endedAtMs !== null && `after ${duration(endedAtMs - startedAtMs)}`}
            </p>
            {summary !== '' && <p className="run-summary">{printable(summary)}</p>}
          </li>
        ))}
      </ol>
    </Section>
  );
}
