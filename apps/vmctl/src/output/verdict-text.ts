import { printableLine } from '@inquest/transcript';

/** What a verdict from the platform and one drawn here have in common. */
interface ShownVerdict {
  readonly class: string;
  readonly confidence: string;
  readonly account: string;
  readonly deciding: readonly { readonly file: string; readonly offset: number; readonly quote: string }[];
  readonly warnings: readonly string[];
}

/** A verdict for people: the class, one sentence, the bytes that decided, what is missing. */
export function verdictText({ class: name, confidence, account, deciding, warnings }: ShownVerdict): string {
  const quotes = deciding.map(({ file, offset, quote }) => `  ${file} @${offset}: ${printableLine(quote)}`);
  return [
    `verdict: ${name} (${confidence})`,
    `  ${printableLine(account)}`,
    ...(quotes.length > 0 ? ['evidence:', ...quotes] : []),
    ...warnings.map((warning) => `  note: ${printableLine(warning)}`),
  ].join('\n');
}
