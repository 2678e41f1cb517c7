import type { VerdictView } from '@inquest/contracts-vm';
import { printableLine } from '@inquest/transcript';

type Shown = Pick<VerdictView, 'class' | 'confidence' | 'account' | 'boots'> & {
  readonly deciding: readonly { readonly file: string; readonly offset: number; readonly quote: string }[];
  readonly warnings: readonly string[];
};

/** A verdict for people: the class, one sentence, the bytes that decided, what is missing. */
export function verdictText({ class: name, confidence, account, deciding, warnings }: Shown): string {
  const quotes = deciding.map(({ file, offset, quote }) => `  ${file} @${offset}: ${printableLine(quote)}`);
  return [
    `verdict: ${name} (${confidence})`,
    `  ${printableLine(account)}`,
    ...(quotes.length > 0 ? ['evidence:', ...quotes] : []),
    ...warnings.map((warning) => `  note: ${printableLine(warning)}`),
  ].join('\n');
}
