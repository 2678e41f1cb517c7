import { Link } from 'react-router';
import { printable, printableLine, type Entry, type TranscriptEntry, type VerbOutcome } from '@inquest/transcript';
import { Badge } from '../../components/badge';
import type { Tone } from '../../components/tone';
import { HeldFiles } from '../../publications/held-files';
import { duration, size, words } from '../../text/phrases';
import { verbHeadline } from './verb-headline';

/** Models number their steps themselves. */
const OWN_NUMBER = /^\s*\d{1,3}[.)]\s+/;

/** What one entry of the transcript says. */
export function EntryBody({ entry }: { readonly entry: TranscriptEntry }) {
  switch (entry.type) {
    case 'session_opened':
      return (
        <p>
          Machine <Link to={`/machines/${entry.machineId}`}>{entry.machineId}</Link> on {entry.image} for project{' '}
          {entry.project}
        </p>
      );
    case 'run_started':
      return <p className="entry-prompt">{printable(entry.prompt)}</p>;
    case 'plan_recorded':
      return (
        <ol className="plan">
          {entry.steps.map((step, at) => (
            <li key={at}>{printable(step).replace(OWN_NUMBER, '')}</li>
          ))}
        </ol>
      );
    case 'model_turn':
      return <p className="said">{printable(entry.text)}</p>;
    case 'verb':
      return <VerbBody entry={entry} />;
    case 'confirmation':
      return (
        <p>
          {printable(entry.question)} <Badge tone={entry.state === 'asked' ? 'warn' : 'quiet'}>{entry.state}</Badge>
          {entry.by !== null && ` by ${printableLine(entry.by)}`}
          {entry.reason !== '' && `: ${printable(entry.reason)}`}
        </p>
      );
    case 'host_event':
      return (
        <p>
          {words(printableLine(entry.event))}: {printable(entry.detail)}
        </p>
      );
    case 'verdict':
      return (
        <p>
          <strong>{words(entry.class)}</strong> ({entry.confidence}): {printable(entry.account)}
        </p>
      );
    case 'publication':
      return <PublicationBody entry={entry} />;
    case 'run_ended':
      return (
        <p>
          <Badge tone={entry.outcome === 'done' ? 'good' : 'bad'}>{entry.outcome}</Badge> {printable(entry.summary)}
        </p>
      );
    case 'session_closed':
      return <p>{printable(entry.reason)}</p>;
    case 'census':
      return <p>{entry.verbs.map(({ verb, count }) => `${words(verb)} ${count}`).join(', ')}</p>;
  }
}

const OUTCOME_TONE: Readonly<Record<VerbOutcome, Tone>> = { ok: 'good', refused: 'warn', failed: 'bad', error: 'bad' };

function VerbBody({ entry }: { readonly entry: Entry<'verb'> }) {
  const { outcome, durationMs, summary, bytes } = entry;
  const headline = verbHeadline(entry);
  const answer = printable(summary).trimEnd();
  return (
    <>
      <p className="verb-line">
        {headline !== '' && <code className="verb-call">{headline}</code>}
        <span className="verb-result">
          <Badge tone={OUTCOME_TONE[outcome]}>{outcome}</Badge> {duration(durationMs)}
        </span>
      </p>
      {outcome === 'refused' && <p className="refusal">{answer}</p>}
      <details className="verb-details">
        <summary>
          Arguments and answer <span className="quiet-text">({size(bytes)})</span>
        </summary>
        <pre tabIndex={0}>{printable(JSON.stringify(entry.arguments, null, 2).replaceAll('\\n', '\n'))}</pre>
        <pre tabIndex={0}>{answer === '' ? '(no output)' : answer}</pre>
      </details>
    </>
  );
}

function PublicationBody({ entry }: { readonly entry: Entry<'publication'> }) {
  const { commit, branch, kept, held, pushed, detail } = entry;
  return (
    <>
      <p>
        <Badge tone={pushed ? 'good' : 'quiet'}>{pushed ? 'published' : 'not pushed'}</Badge>{' '}
        {commit === null ? 'nothing had changed' : <code>{commit.slice(0, 12)}</code>} {branch}
      </p>
      <p className="wrap">{printable(detail)}</p>
      {kept.length > 0 && <p className="wrap">Kept: {kept.map(printableLine).join(', ')}</p>}
      <HeldFiles held={held} heldCount={held.length} />
    </>
  );
}
