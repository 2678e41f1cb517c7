import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { toProblem } from '../api/problem';

/** A failure: what happened, what to do next, and a way to try again. */
export function ProblemNotice({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { code, message, remediation } = toProblem(error);
  return (
    <div className="notice" data-tone="bad" role="alert">
      <p className="notice-title">{message}</p>
      <p>{remediation}</p>
      <p className="notice-foot">
        <code>{code}</code>
        {onRetry && (
          <Button className="button" onPress={onRetry}>
            Try again
          </Button>
        )}
      </p>
    </div>
  );
}

/** Something that whoever looks at the page must know first. */
export function Banner({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="banner" aria-label={title}>
      <strong>{title}</strong>
      <div>{children}</div>
    </section>
  );
}

/** Nothing is there yet, and what makes something be there. */
export function EmptyState({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      <div>{children}</div>
    </div>
  );
}

/** Keeps the place of what is still on its way, so that nothing jumps when it comes. */
export function Loading({ what, rows = 3 }: { readonly what: string; readonly rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="hidden">Loading {what}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="skeleton" aria-hidden="true" />
      ))}
    </div>
  );
}
