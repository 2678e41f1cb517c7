import { useEffect, useEffectEvent, useState } from 'react';
import { pause } from './follow-events';
import { Problem, toProblem } from './problem';

/** What is kept of a text that grows without end; the beginning goes first. In characters. */
const KEPT_LENGTH = 512 * 1024;
const LOOK_EVERY_MS = 1_000;

/** Part of a text on the server. */
export interface TextPart {
  readonly text: string;
  readonly nextOffset: number;
}

/** A text as far as it is known here. */
export interface GrowingText {
  readonly text: string;
  /** Bytes before `text`: not asked for, or let go. */
  readonly startOffset: number;
  /** False until the first part has come. */
  readonly isLoaded: boolean;
  readonly problem: Problem | null;
}

const NOTHING: GrowingText = { text: '', startOffset: 0, isLoaded: false, problem: null };
const encoder = new TextEncoder();

/**
 * Reads a text part by part to its end, and on while it `isLive`. `key` names the text: another key starts over.
 * A read that fails is shown as `problem` and tried again while it is live.
 */
export function useGrowingText(
  key: string,
  readPart: (fromOffset: number, signal: AbortSignal) => Promise<TextPart>,
  { isLive, fromOffset = 0 }: { readonly isLive: boolean; readonly fromOffset?: number },
): GrowingText {
  const fresh: Held = { key, nextOffset: fromOffset, value: { ...NOTHING, startOffset: fromOffset } };
  const [held, setHeld] = useState(fresh);
  const current = held.key === key ? held : fresh;
  const begin = useEffectEvent(() => current);
  const read = useEffectEvent((offset: number, signal: AbortSignal) => readPart(offset, signal));
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const readOn = async (): Promise<void> => {
      for (let reached = begin(); !signal.aborted;) {
        const part = await read(reached.nextOffset, signal).catch(toProblem);
        if (signal.aborted) return;
        reached = part instanceof Problem ? failed(reached, part) : extended(reached, part);
        setHeld(reached);
        if (!(part instanceof Problem) && part.text !== '') continue;
        if (!isLive) return;
        await pause(LOOK_EVERY_MS, signal);
      }
    };
    void readOn();
    return () => leaving.abort();
  }, [key, isLive, fromOffset]);
  return current.value;
}

/** What was read of the text named by `key`, and where reading goes on. */
interface Held {
  readonly key: string;
  readonly nextOffset: number;
  readonly value: GrowingText;
}

const failed = (before: Held, problem: Problem): Held => ({
  ...before,
  value: { ...before.value, isLoaded: true, problem },
});

function extended({ key, value }: Held, { text, nextOffset }: TextPart): Held {
  const joined = value.text + text;
  const excess = Math.max(0, joined.length - KEPT_LENGTH);
  const startOffset = value.startOffset + (excess === 0 ? 0 : encoder.encode(joined.slice(0, excess)).length);
  return { key, nextOffset, value: { text: joined.slice(excess), startOffset, isLoaded: true, problem: null } };
}
