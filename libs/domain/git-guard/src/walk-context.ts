import type { Field } from './arguments';

/** Where the text that is being walked stands in the outermost script. */
export interface Origin {
  readonly base: number;
  /** False when the text does not stand there verbatim: then every position in it is `base`. */
  readonly isVerbatim: boolean;
}

/** What a walk knows where it is: handed down, never changed. */
export interface Context {
  readonly origin: Origin;
  /** Literal text on standard input; null when unknown. */
  readonly stdin: Field | null;
  /** Scripts inside scripts, and function calls inside function calls, above this one. */
  readonly depth: number;
}

/** The context of a script inside the one of `context`. */
export function nested(script: Field, context: Context): Context {
  const isVerbatim = script.textPos !== null && context.origin.isVerbatim;
  const base = offsetOf(script.textPos ?? script.pos, context);
  return { ...context, origin: { base, isVerbatim }, depth: context.depth + 1 };
}

/** Where a position of the text that is walked is in the outermost script. */
export function offsetOf(pos: number, { origin }: Context): number {
  return origin.isVerbatim ? origin.base + pos : origin.base;
}

/** The context with another standard input; undefined: the same one. */
export const withStdin = (context: Context, stdin: Field | null | undefined): Context =>
  stdin === undefined || stdin === context.stdin ? context : { ...context, stdin };
