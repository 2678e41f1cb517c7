import { useLayoutEffect, useRef, type ReactNode } from 'react';

/** How near the end one must be for new text to be followed, in CSS pixels. */
const NEAR_END_PX = 40;

interface ConsoleProps {
  readonly label: string;
  /** Changes when there is more; the view then follows, unless its reader has scrolled back. */
  readonly length: number;
  readonly emptyText: string;
  readonly children: ReactNode;
}

/** Output of a program: scrolls in its own box, by keyboard too, and stays at its end while it grows. */
export function Console({ label, length, emptyText, children }: ConsoleProps) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [length]);
  const noteScroll = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  };
  return (
    <pre ref={box} className="console" role="region" aria-label={label} tabIndex={0} onScroll={noteScroll}>
      {length === 0 ? <span className="console-empty">{emptyText}</span> : children}
    </pre>
  );
}
