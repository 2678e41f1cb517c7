import { useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router';

interface PageProps {
  readonly title: string;
  /** Where this page hangs: the list it was found in. */
  readonly parent?: { readonly to: string; readonly title: string };
  /** Beside the title: a state. */
  readonly mark?: ReactNode;
  /** Buttons. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page with its title. Coming to it, the focus is on the title, so that a screen reader says where one is. */
export function Page({ title, parent, mark, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname, key } = useLocation();
  useEffect(() => {
    document.title = `${title} · Inquest`;
  }, [title]);
  useEffect(() => {
    // The very first page keeps the browser's own focus: its start.
    if (key !== 'default') heading.current?.focus();
  }, [pathname, key]);
  return (
    <>
      <header className="page-header">
        {parent && (
          <nav aria-label="Breadcrumb" className="crumbs">
            <Link to={parent.to}>{parent.title}</Link>
          </nav>
        )}
        <div className="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {mark}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A part of a page under its own heading. */
export function Section({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="section" aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        {note && <div className="section-note">{note}</div>}
      </div>
      {children}
    </section>
  );
}
