import type { Paint, Palette } from './palette';
import { clip, displayWidth, padEnd, printable, printableLine, wrap } from './printable';

export interface RenderOptions {
  /** Whether to write ANSI colours. */
  readonly color: boolean;
  /** Columns of the terminal; less than `MIN_WIDTH` is taken as that. */
  readonly width: number;
  /** Shows outputs and arguments whole instead of their beginnings. */
  readonly verbose: boolean;
}

export const MIN_WIDTH = 60;

const TIME_WIDTH = 8;
const LABEL_WIDTH = 14; // check_internet, the longest verb
const TEXT_COLUMN = TIME_WIDTH + 2 + 2 + LABEL_WIDTH + 1;
const QUOTED_LINES = 8;
const QUOTE = '│ ';

/** One line of the table that a transcript is shown as, and what hangs below it. */
export interface Row {
  readonly time: string;
  readonly glyph: string;
  readonly label: string;
  readonly text: string;
  /** At the right edge. */
  readonly note: string;
  readonly paint: Paint;
}

/** Lays out rows: time, mark, label, text, note, each in its column. All text given to it may be hostile. */
export class RowLayout {
  readonly textWidth: number;

  constructor(
    private readonly options: RenderOptions,
    readonly palette: Palette,
  ) {
    this.textWidth = Math.max(MIN_WIDTH, options.width) - TEXT_COLUMN;
  }

  /** A row whose text is clipped to one line. */
  line(row: Row): string[] {
    const noteWidth = row.note === '' ? 0 : displayWidth(row.note) + 2;
    const text = clip(printableLine(row.text), this.textWidth - noteWidth);
    const noted = row.note === '' ? text : padEnd(text, this.textWidth - noteWidth) + '  ' + this.palette.dim(row.note);
    return [this.margin(row) + noted.trimEnd()];
  }

  /** A row whose text goes on below, wrapped, in its own column. */
  paragraph(row: Row): string[] {
    const [first = '', ...rest] = wrap(printable(row.text).trim(), this.textWidth);
    return [(this.margin(row) + first).trimEnd(), ...rest.map((line) => this.indented(line))];
  }

  /** Lines of an output below its row, each behind a bar. Only the beginning, with a count of the rest, unless verbose. */
  quoted(text: string): string[] {
    const lines = printable(text).replace(/\n+$/, '').split('\n');
    const shown = this.options.verbose || lines.length <= QUOTED_LINES + 1 ? lines : lines.slice(0, QUOTED_LINES);
    const width = this.textWidth - QUOTE.length;
    const fitted = shown.flatMap((line) => (this.options.verbose ? wrap(line, width) : [clip(line, width)]));
    const missing = lines.length - shown.length;
    const more = missing > 0 ? [this.aside(`… ${missing} more lines`)] : [];
    return [...fitted.map((line) => this.indented(this.palette.dim(QUOTE) + line)), ...more];
  }

  /** Lines below a row that belong to it, clipped. */
  below(lines: readonly string[]): string[] {
    return lines.map((line) => this.indented(clip(printableLine(line), this.textWidth)));
  }

  /** A remark about the record itself, below a row. */
  aside(text: string): string {
    return this.indented(this.palette.dim(clip(printableLine(text), this.textWidth)));
  }

  private margin({ time, glyph, label, paint }: Row): string {
    const name = paint(padEnd(clip(printableLine(label), LABEL_WIDTH), LABEL_WIDTH));
    return `${this.palette.dim(time.padStart(TIME_WIDTH))}  ${paint(padEnd(glyph, 1))} ${name} `;
  }

  private indented(line: string): string {
    return (' '.repeat(TEXT_COLUMN) + line).trimEnd();
  }
}
