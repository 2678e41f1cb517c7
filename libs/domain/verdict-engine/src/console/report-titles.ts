import { baseFunction, isGenericFunction, symbolIn } from './frames';
import type { ReportBody } from './report';

/** Makes a report's title from the match of its first line and from what its body told. */
export type MakeTitle = (match: RegExpExecArray, body: ReportBody) => string;

/** `text in function`, or `text` alone where no function is known. */
export const within = (text: string, name: string | null): string => (name === null ? text : `${text} in ${name}`);

/** The first of the functions that says where the fault is; null when all are machinery. */
export const specific = (names: readonly (string | null)[]): string | null =>
  names.find((name): name is string => name !== null && !isGenericFunction(name)) ?? null;

/** The function that faulted: the program counter, unless it is a primitive that somebody called wrongly. */
export const faulting = (body: ReportBody): string | null =>
  specific([body.programCounter, ...body.frames]) ?? body.programCounter ?? body.frames[0] ?? null;

/** The function that the report itself names, else the first of the call trace that is no machinery. */
export const named = (body: ReportBody): string | null =>
  specific([body.named, ...body.frames, body.programCounter]) ?? body.named ?? body.frames[0] ?? body.programCounter;

/** The first function of the call trace that is no machinery: for tasks that wait, or stacks that were dumped. */
export const calling = (body: ReportBody): string | null =>
  specific([...body.frames, body.programCounter]) ?? body.frames[0] ?? body.programCounter;

/** A title of `text` and the function that `pick` finds. */
export const at = (text: string, pick: (body: ReportBody) => string | null) => (_: RegExpExecArray, body: ReportBody) =>
  within(text, pick(body));

/** A title that is always the same. */
export const fixed = (text: string) => () => text;

/** What a group of the first line's match caught; empty when it caught nothing. */
export const group = (match: RegExpExecArray, index: number): string => (match[index] ?? '').trim();

/** What differs from run to run (addresses, counters) taken out of a message, so that equal faults have equal titles. */
export function stable(text: string): string {
  return text
    .slice(0, 160)
    .replace(/\b(?:0x)?[0-9a-f]{8,16}\b/g, 'ADDR')
    .replace(/\b0x[0-9a-f]+\b/g, 'NUM')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** The reason in a panic's first line, without what differs from run to run. */
export function panicTitle(match: RegExpExecArray, body: ReportBody): string {
  const reason = group(match, 1);
  if (reason.startsWith('Attempted to kill init!')) return 'kernel panic: Attempted to kill init!';
  if (reason.startsWith('Attempted to kill the idle task!')) return 'kernel panic: Attempted to kill the idle task!';
  if (reason.startsWith('stack-protector:'))
    return within('kernel panic: stack is corrupted', symbolIn(reason) ?? calling(body));
  if (reason.startsWith('corrupted stack end detected'))
    return within('kernel panic: corrupted stack end', calling(body));
  if (reason.startsWith('No working init found')) return 'kernel panic: No working init found.';
  return `kernel panic: ${stable(reason.replace(/ \.\.\.$/, ''))}`;
}

/** A WARNING names its function on its own line; those of the checking libraries mean their caller. */
export function warningTitle(match: RegExpExecArray, body: ReportBody): string {
  const file = group(match, 1);
  const reporter = symbolIn(match.input) ?? body.programCounter;
  if (file.startsWith('lib/refcount.c')) return within('WARNING: refcount bug', calling(body));
  if (file.startsWith('lib/debugobjects.c')) return within('WARNING: ODEBUG bug', calling(body));
  if (file.startsWith('lib/kobject.c')) return within('WARNING: kobject bug', calling(body));
  if (file.startsWith('kernel/locking/lockdep.c')) return within('WARNING: locking bug', calling(body));
  const usable = reporter !== null && !isGenericFunction(reporter) ? reporter : (calling(body) ?? reporter);
  return within('WARNING', usable);
}

/** `use-after-free` of a KASAN line, with the access that its third line tells (`Read of size 8 at addr ...`). */
export function kasanTitle(match: RegExpExecArray, body: ReportBody): string {
  const kind = group(match, 1);
  return within(`KASAN: ${kind}${body.access === null ? '' : ` ${body.access}`}`, named(body));
}

/** Both functions of a data race, in the order in which the report names them. */
export function dataRaceTitle(match: RegExpExecArray): string {
  const [first, second] = group(match, 1).split(' / ').map(baseFunctionOf);
  return second === undefined ? `KCSAN: data-race in ${first}` : `KCSAN: data-race in ${first} / ${second}`;
}

const baseFunctionOf = (text: string): string => baseFunction(text.replace(/\+0x.*$/, '').trim());
