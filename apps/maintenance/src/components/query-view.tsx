import type { ReactNode } from 'react';
import { Loading, ProblemNotice } from './notice';
import { Ago } from './age';

/** What a query of react-query says, as far as it is shown. */
export interface Answer<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly dataUpdatedAt: number;
  readonly refetch: () => unknown;
}

interface QueryViewProps<T> {
  readonly answer: Answer<T>;
  /** For people, in `Loading ...`. */
  readonly what: string;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/** An answer once it is there. When a later one fails, the last is still shown, and how old it is. */
export function QueryView<T>({ answer, what, rows, children }: QueryViewProps<T>) {
  const { data, error, dataUpdatedAt, refetch } = answer;
  const retry = (): void => void refetch();
  if (data === undefined) {
    return error ? (
      <ProblemNotice error={error} onRetry={retry} />
    ) : (
      <Loading what={what} {...(rows ? { rows } : {})} />
    );
  }
  return (
    <>
      {error !== null && (
        <>
          <ProblemNotice error={error} onRetry={retry} />
          <p className="stale">
            What follows is from <Ago atMs={dataUpdatedAt} />.
          </p>
        </>
      )}
      {children(data)}
    </>
  );
}
