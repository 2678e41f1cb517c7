import { useState } from 'react';
import { Button } from 'react-aria-components';
import { printableLine } from '@inquest/transcript';
import { count, elapsed, moment } from '../../text/phrases';
import type { TimelineEntry, TimelineSource } from './timeline';

const SOURCE_NAMES: Readonly<Record<TimelineSource, string>> = {
  host: 'host',
  probe: 'probe',
  monitor: 'monitor',
  network: 'network',
};

interface TimelineListProps {
  readonly entries: readonly TimelineEntry[];
  /** Where the time line begins, ms since the Unix epoch. */
  readonly startMs: number;
}

/** How many of the last entries are shown at first: a guest that resets without end makes very many. */
const SHOWN = 200;

/** What was observed, from the start on. */
export function TimelineList({ entries, startMs }: TimelineListProps) {
  const [isWhole, setIsWhole] = useState(false);
  const left = isWhole ? 0 : Math.max(0, entries.length - SHOWN);
  return (
    <>
      {left > 0 && (
        <p className="console-cut">
          The first {count(left, 'entry', 'entries')} are not shown.{' '}
          <Button className="button quiet" onPress={() => setIsWhole(true)}>
            Show all of them
          </Button>
        </p>
      )}
      <ol className="timeline" aria-label="Time line of the evidence">
        {entries.slice(left).map((entry, at) => (
          <TimelineRow key={left + at} entry={entry} startMs={startMs} />
        ))}
      </ol>
    </>
  );
}

function TimelineRow({ entry, startMs }: { readonly entry: TimelineEntry; readonly startMs: number }) {
  const { atMs, untilMs, count: times, source, title, detail, tone, isDeciding } = entry;
  return (
    <li className="timeline-row" data-tone={tone} data-deciding={isDeciding}>
      <time dateTime={new Date(atMs).toISOString()} title={moment(atMs)}>
        {elapsed(atMs - startMs)}
      </time>
      <span className="source" data-source={source}>
        {SOURCE_NAMES[source]}
      </span>
      <div className="timeline-what">
        <span className="timeline-title">{printableLine(title)}</span>
        {times > 1 && (
          <span className="times">
            {' '}
            {times} times, until {elapsed(untilMs - startMs)}
          </span>
        )}
        {isDeciding && <strong className="deciding"> decided the verdict</strong>}
        {detail !== '' && <span className="timeline-detail">{printableLine(detail)}</span>}
      </div>
    </li>
  );
}
