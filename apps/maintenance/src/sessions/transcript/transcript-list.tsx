import { printableLine, type TranscriptEntry } from '@inquest/transcript';
import { LiveText } from '../../components/live-text';
import { elapsed, moment, words } from '../../text/phrases';
import { EntryBody } from './entry-body';

const LABELS: Readonly<Record<TranscriptEntry['type'], string>> = {
  session_opened: 'opened',
  run_started: 'asked',
  plan_recorded: 'plan',
  model_turn: 'says',
  verb: 'verb',
  confirmation: 'question',
  host_event: 'host',
  verdict: 'verdict',
  publication: 'publication',
  run_ended: 'run ended',
  session_closed: 'closed',
  census: 'census',
};

interface TranscriptListProps {
  readonly entries: readonly TranscriptEntry[];
  readonly isLive: boolean;
}

/** The transcript, oldest first. Times count from its first entry. */
export function TranscriptList({ entries, isLive }: TranscriptListProps) {
  const startMs = entries[0]?.atMs ?? 0;
  const last = entries.at(-1);
  return (
    <>
      <ol className="transcript" aria-label="Transcript">
        {entries.filter(hasContent).map((entry) => (
          <li key={entry.sequence} className="entry" data-type={entry.type}>
            <div className="entry-margin">
              <time dateTime={new Date(entry.atMs).toISOString()} title={moment(entry.atMs)}>
                {elapsed(entry.atMs - startMs)}
              </time>
              <span className="entry-label">{labelOf(entry)}</span>
            </div>
            <div className="entry-body">
              <EntryBody entry={entry} />
              {entry.cut && (
                <p className="entry-cut">
                  Recorded without {entry.cut.characters} characters and {entry.cut.items} items.
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
      <LiveText>{isLive && last ? `New entry: ${labelOf(last)}` : ''}</LiveText>
    </>
  );
}

/** A turn in which the model only called verbs says nothing by itself. */
const hasContent = (entry: TranscriptEntry): boolean => entry.type !== 'model_turn' || entry.text.trim() !== '';

const labelOf = (entry: TranscriptEntry): string =>
  entry.type === 'verb' ? words(printableLine(entry.verb)) : LABELS[entry.type];
