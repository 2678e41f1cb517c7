import type { ReactNode } from 'react';

/** A named value. */
export interface Fact {
  readonly label: string;
  readonly value: ReactNode;
  /** Takes the whole width: a digest, a sentence. */
  readonly isWide?: boolean;
}

/** Named values, as many columns as fit. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(({ label, value, isWide }) => (
        <div key={label} className={isWide ? 'fact fact-wide' : 'fact'}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
