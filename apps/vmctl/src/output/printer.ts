import type { Writable } from 'node:stream';
import Table from 'cli-table3';
import { isDomainError, toDomainError } from '@inquest/kernel';
import { printable, printableLine } from '@inquest/transcript';

/** Where text goes; a terminal knows its width. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface PrinterOptions {
  readonly json: boolean;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Data goes to stdout, everything else to stderr. With `--json`, stdout carries one JSON document and nothing more. */
export class Printer {
  readonly json: boolean;

  constructor(private readonly options: PrinterOptions) {
    this.json = options.json;
  }

  /** Colours and live lines are for people at a terminal who did not say NO_COLOR. */
  get isColored(): boolean {
    return this.options.stdout.isTTY === true && !this.options.env['NO_COLOR'] && !this.json;
  }

  get width(): number {
    return this.options.stdout.columns ?? WIDTH_WITHOUT_TERMINAL;
  }

  /** The result of a command: the value with `--json`, else what `human` makes of it. */
  result(value: object, human: () => string): void {
    this.data(this.json ? JSON.stringify(value, null, 2) : human());
  }

  /** A listing: the value with `--json`, else a table; nothing to list is a note that says how to get something. */
  list(value: object, head: readonly string[], rows: readonly (readonly string[])[], emptyNote: string): void {
    if (this.json || rows.length > 0) this.result(value, () => this.table(head, rows));
    else this.note(emptyNote);
  }

  /** One line or block of data. */
  data(text: string): void {
    this.options.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`);
  }

  /** What is going on, for people; nothing that a script would read. */
  note(text: string): void {
    this.options.stderr.write(`${text}\n`);
  }

  /** Code, message and what to do next. */
  error(e: unknown): void {
    const error = toDomainError(e);
    if (this.json) {
      this.options.stderr.write(`${JSON.stringify(error.toBody())}\n`);
      return;
    }
    if (!isDomainError(e)) {
      this.note(`vmctl: a defect of vmctl itself: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
      return;
    }
    this.note(`vmctl: ${printable(error.message)} [${error.code}]`);
    if (error.remediation !== '') this.note(`  ${printable(error.remediation)}`);
  }

  /** Columns without borders: readable, and easy to cut. Cells may hold hostile text. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): string {
    const table = new Table({
      head: [...head],
      chars: BORDERLESS,
      style: { head: this.isColored ? ['bold'] : [], border: [], 'padding-left': 0, 'padding-right': 2 },
    });
    table.push(...rows.map((row) => row.map((cell) => printableLine(cell))));
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  }
}

const WIDTH_WITHOUT_TERMINAL = 100;

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};
