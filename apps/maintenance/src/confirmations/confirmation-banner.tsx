import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import type { ConfirmationView } from '@inquest/contracts-agent';
import { printableLine } from '@inquest/transcript';
import { useOpenConfirmations } from '../api/confirmations';
import { count } from '../text/phrases';
import { Question } from './question';

/**
 * On every page while a model waits for a person: what is asked, and a way to answer. Several are counted and stepped
 * through, the oldest first. A new one is announced once and takes the focus from nothing.
 */
export function ConfirmationBanner() {
  const list = useOpenConfirmations();
  // Oldest first: its time is over first.
  const open = [...(list?.items ?? [])].reverse();
  const { current, step } = useCurrent(open);
  const [isFolded, setFolded] = useFolded(open);
  const announcement = useAnnouncement(open);
  const banner = useFocusHeldBy(current?.confirmationId ?? null);
  return (
    <>
      {announcement !== '' && (
        <p className="hidden" role="alert">
          {announcement}
        </p>
      )}
      {current && (
        <section ref={banner} className="asks" aria-label="Waiting for a person" tabIndex={-1}>
          <div className="asks-head">
            <strong>
              {count(open.length, 'question waits', 'questions wait')}
              {list?.nextToken !== null && list?.nextToken !== undefined && ', and more'}
            </strong>
            <div className="asks-tools">
              {open.length > 1 && <Steps at={open.indexOf(current)} of={open.length} step={step} />}
              <Button className="button quiet" aria-expanded={!isFolded} onPress={() => setFolded(!isFolded)}>
                {isFolded ? 'Show' : 'Fold'}
              </Button>
            </div>
          </div>
          {!isFolded && <Question key={current.confirmationId} confirmation={current} />}
        </section>
      )}
    </>
  );
}

function Steps({ at, of, step }: { readonly at: number; readonly of: number; readonly step: (by: 1 | -1) => void }) {
  return (
    <>
      <Button className="button quiet" aria-label="Previous question" onPress={() => step(-1)}>
        ‹
      </Button>
      <span role="status">{`${at + 1} of ${of}`}</span>
      <Button className="button quiet" aria-label="Next question" onPress={() => step(1)}>
        ›
      </Button>
    </>
  );
}

/** The question on show: the one stepped to for as long as it is open, else the oldest. */
function useCurrent(open: readonly ConfirmationView[]) {
  const [wanted, setWanted] = useState<string | null>(null);
  const found = open.findIndex(({ confirmationId }) => confirmationId === wanted);
  const at = Math.max(0, found);
  const current = open[at];
  // Kept by its id: another one that comes or goes must not change what is on show.
  if (current !== undefined && current.confirmationId !== wanted) setWanted(current.confirmationId);
  const step = (by: 1 | -1): void => setWanted(open[(at + by + open.length) % open.length]?.confirmationId ?? null);
  return { current, step };
}

/** Folded until a question comes that was not there. */
function useFolded(open: readonly ConfirmationView[]): [boolean, (isFolded: boolean) => void] {
  const [foldedAtMs, setFoldedAtMs] = useState<number | null>(null);
  const newestMs = open.at(-1)?.askedAtMs ?? 0;
  const isFolded = foldedAtMs !== null && newestMs <= foldedAtMs;
  return [isFolded, (wanted) => setFoldedAtMs(wanted ? newestMs : null)];
}

/**
 * Where the question goes that had the focus, the focus goes to the next one, or to the page: it must not be lost. Give
 * the ref to the element that holds the question.
 */
function useFocusHeldBy(current: string | null) {
  const element = useRef<HTMLElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    const look = (): void => {
      hadFocus.current = element.current?.contains(document.activeElement) ?? false;
    };
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  }, []);
  useEffect(() => {
    if (!hadFocus.current || document.activeElement !== document.body) return;
    (element.current ?? document.getElementById('main'))?.focus();
  }, [current]);
  return element;
}

/** Changes only when a question comes that is newer than all before, so that each is read out once. */
function useAnnouncement(open: readonly ConfirmationView[]): string {
  const [told, setTold] = useState({ askedAtMs: 0, text: '' });
  const newest = open.at(-1);
  if (newest !== undefined && newest.askedAtMs > told.askedAtMs) {
    const text = `A model waits for a person, in project ${newest.project}: ${printableLine(newest.question)}`;
    setTold({ askedAtMs: newest.askedAtMs, text });
  }
  return newest === undefined ? '' : told.text;
}
