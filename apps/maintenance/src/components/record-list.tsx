import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Facts, type Fact } from './facts';

/** A list of things, one card each. */
export function RecordList({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ul className="records" aria-label={label}>
      {children}
    </ul>
  );
}

interface RecordCardProps {
  readonly title: string;
  readonly to?: string;
  readonly mark?: ReactNode;
  /** One sentence under the title. */
  readonly summary?: ReactNode;
  readonly facts: readonly Fact[];
  /** Of its title: 2 right under the page's own, 3 inside a section. */
  readonly headingLevel?: 2 | 3;
  readonly children?: ReactNode;
}

/** One thing of a list: its name, state and what is most asked about it. */
export function RecordCard({ title, to, mark, summary, facts, headingLevel = 2, children }: RecordCardProps) {
  const Heading = headingLevel === 2 ? 'h2' : 'h3';
  return (
    <li className="record">
      <div className="record-head">
        <Heading>{to === undefined ? title : <Link to={to}>{title}</Link>}</Heading>
        {mark}
      </div>
      {summary && <p className="record-summary">{summary}</p>}
      <Facts facts={facts} />
      {children}
    </li>
  );
}
