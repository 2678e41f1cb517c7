import { aligned } from '../output/aligned';

/** What `--help` shows below the options: command lines with what each is for. */
export const examples = (...lines: readonly (readonly [commandLine: string, purpose: string])[]): string =>
  ['', 'Examples:', ...aligned(lines)].join('\n');
