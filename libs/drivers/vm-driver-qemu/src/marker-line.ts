import { randomBytes } from 'node:crypto';

/** Of one half: two make 160 bits, which no guest guesses. */
const HALF_BYTES = 10;
/** A number that the shell prints has at most so many digits. */
const MAX_DIGITS = 5;

/**
 * A line that a shell is asked to print, and nothing else can have printed: `<marker>:<number>`. What is typed has the
 * marker in two halves, so that neither its echo nor the shell's history holds it.
 */
export class Marker {
  private readonly halves = [randomBytes(HALF_BYTES).toString('hex'), randomBytes(HALF_BYTES).toString('hex')] as const;

  /** What begins the line, with the line end before it: the output of a command need not end with one. */
  get bytes(): Buffer {
    return Buffer.from(`\n${this.halves.join('')}:`);
  }

  /** Has the shell print the line; `number` is a word of the shell. */
  printing(number: string): string {
    return `printf '\\n%s%s:%s\\n' ${this.halves.join(' ')} ${number}`;
  }
}

/** The line of a marker was found. */
export interface FoundMarker {
  /** Null when what follows the marker is no number, or no whole line. */
  readonly number: number | null;
  /** What came behind the line. */
  readonly rest: Buffer;
}

/** Looks for the line of one marker in what comes piece by piece. Holds back no more than the line may be long. */
export class MarkerSearch {
  private held = Buffer.alloc(0);
  private readonly needle: Buffer;

  constructor(marker: Marker) {
    this.needle = marker.bytes;
  }

  /** `before` gets what precedes the line, as soon as it is known to. Gives the line once it is whole, else null. */
  push(chunk: Uint8Array, before: (bytes: Uint8Array) => void): FoundMarker | null {
    const all = Buffer.concat([this.held, chunk]);
    const at = all.indexOf(this.needle);
    const kept = at >= 0 ? at : Math.max(0, all.length - this.needle.length + 1);
    before(all.subarray(0, kept));
    this.held = all.subarray(kept);
    return at >= 0 ? this.parse(this.held.subarray(this.needle.length)) : null;
  }

  private parse(value: Buffer): FoundMarker | null {
    const end = value.indexOf('\n');
    // A carriage return may stand before the line end.
    if (end < 0 && value.length <= MAX_DIGITS + 1) return null;
    const line = end < 0 ? '' : value.toString('latin1', 0, end).replace(/\r$/, '');
    const isNumber = line.length <= MAX_DIGITS && /^\d+$/.test(line);
    return { number: isNumber ? Number(line) : null, rest: value.subarray(end + 1) };
  }
}
