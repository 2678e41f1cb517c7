import { useState } from 'react';
import type { ImageDiffView } from '@inquest/contracts-image';
import { printableLine } from '@inquest/transcript';
import { useVersionDiff } from '../api/images';
import { Badge } from '../components/badge';
import { Section } from '../components/page';
import { QueryView } from '../components/query-view';

interface VersionDiffProps {
  readonly name: string;
  readonly version: number;
  /** Versions that it can be compared with. */
  readonly others: readonly number[];
}

/** What differs between a version and another: packages and files. */
export function VersionDiff({ name, version, others }: VersionDiffProps) {
  const [from, setFrom] = useState<number | null>(null);
  const diff = useVersionDiff(name, from, version);
  if (others.length === 0) return null;
  return (
    <Section title="Changes">
      <div className="field field-inline">
        <label htmlFor="diff-from">Compared with</label>
        <select
          id="diff-from"
          className="input"
          value={from ?? ''}
          onChange={(e) => setFrom(e.target.value === '' ? null : Number(e.target.value))}
        >
          <option value="">choose a version</option>
          {others.map((other) => (
            <option key={other} value={other}>
              {name}:{other}
            </option>
          ))}
        </select>
      </div>
      {from !== null && (
        <QueryView answer={diff} what="the changes" rows={1}>
          {(view) => <Changes diff={view} />}
        </QueryView>
      )}
    </Section>
  );
}

const CHANGE_TONE = { added: 'good', removed: 'bad', changed: 'warn' } as const;

function Changes({ diff: { packages, files, isCut } }: { readonly diff: ImageDiffView }) {
  if (packages.length + files.length === 0) return <p className="absent">Nothing differs.</p>;
  return (
    <>
      {isCut && <p className="stale">There are more changes than are listed.</p>}
      <ul className="changes" aria-label="Changes">
        {packages.map(({ name, from, to }) => (
          <li key={`package ${name}`}>
            <Badge tone={from === null ? 'good' : to === null ? 'bad' : 'warn'}>package</Badge> {printableLine(name)}:{' '}
            {from ?? 'absent'} → {to ?? 'absent'}
          </li>
        ))}
        {files.map(({ path, change, detail }) => (
          <li key={`file ${path}`}>
            <Badge tone={CHANGE_TONE[change]}>{change}</Badge> <code>{printableLine(path)}</code>{' '}
            <span className="quiet-text">{detail}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
