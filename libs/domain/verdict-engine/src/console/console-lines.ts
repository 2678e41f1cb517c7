import { EscapeFilter } from './escape-filter';
import { stampAt, withoutPrefix, type Stamp } from './line-prefix';

/** A console line longer than this is handed out in pieces. printk's own limit is 1024 bytes (LOG_LINE_MAX). */
export const MAX_LINE_CHARS = 4096;

/** How far back from a forced cut a piece may end so that no printk stamp is torn. */
const CUT_WINDOW_CHARS = 64;

/** A message on the console: one line, or the part of a line that begins with a printk timestamp. */
export interface ConsoleLine {
  /** The message, trimmed: no escape sequences, control characters, timestamp or syslog prefix. One character per byte. */
  readonly text: string;
  /** First byte of the line, or of its timestamp and level, in the console log. */
  readonly offset: number;
  readonly length: number;
  /** The printk timestamp in seconds since that boot; null without one. */
  readonly clockSeconds: number | null;
  /** The task (`T123`) or CPU (`C0`) that printed it, where the kernel says so (CONFIG_PRINTK_CALLER). */
  readonly caller: string | null;
  /** Has the form in which the kernel prints: with a timestamp or caller, or with a syslog daemon's `kernel:`. */
  readonly stamped: boolean;
  /** A newline followed: the line is whole. */
  readonly terminated: boolean;
}

/** The messages of a console log in order. */
export interface ConsoleLog {
  readonly lines: readonly ConsoleLine[];
  /** Those that the kernel can have printed; see `KernelVoice`. */
  readonly kernelLines: readonly ConsoleLine[];
}

/** Splits a console log into messages. Linear in its length; never throws, whatever the bytes. */
export function readConsole(bytes: Uint8Array): ConsoleLog {
  const lines: ConsoleLine[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  splitter.push(bytes);
  splitter.end();
  const voice = new KernelVoice();
  for (const line of lines) voice.hear(line);
  return { lines, kernelLines: voice.isStamped ? lines.filter((line) => line.stamped) : lines };
}

/** linux_banner (init/version.c). */
const BANNER = /^Linux version \d/;

/**
 * Tells how the kernel of a log prints. Where it stamps its messages, text without a stamp is a program's. Where nothing
 * is stamped, or the kernel's own banner came without a stamp (printk.time=0, and some program stamps its own lines),
 * every line may be the kernel's.
 */
export class KernelVoice {
  private hasStamps = false;
  private hasPlainBanner = false;

  hear(line: ConsoleLine): void {
    if (line.stamped) this.hasStamps = true;
    // Later the same words are only a program that shows them.
    else if (!this.hasStamps && BANNER.test(line.text)) this.hasPlainBanner = true;
  }

  /** Only stamped lines are the kernel's. Once true it stays so. */
  get isStamped(): boolean {
    return this.hasStamps && !this.hasPlainBanner;
  }
}

const NEWLINE = 0x0a;
const BRACKET = 0x5b;

/** Cuts a stream of console bytes into messages and hands each to `onLine`; keeps at most one line of text. */
export class LineSplitter {
  private readonly chars = new Uint8Array(MAX_LINE_CHARS);
  /** Doubles: a log may be longer than 4 GiB. */
  private readonly offsets = new Float64Array(MAX_LINE_CHARS);
  private readonly decoder = new TextDecoder('latin1');
  private readonly escapes = new EscapeFilter();
  private size = 0;
  private read = 0;

  /** Lines with fewer than `minChars` characters are dropped unread. */
  constructor(
    private readonly onLine: (line: ConsoleLine) => void,
    private readonly minChars = 1,
  ) {}

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === NEWLINE) this.endLine(true);
      else if (this.escapes.isText(byte)) this.add(byte, this.read + at);
    }
    this.read += bytes.length;
  }

  /** The log is over. */
  end(): void {
    this.endLine(false);
  }

  private add(byte: number, offset: number): void {
    if (this.size === MAX_LINE_CHARS) this.cut();
    this.chars[this.size] = byte;
    this.offsets[this.size] = offset;
    this.size++;
  }

  private endLine(terminated: boolean): void {
    this.escapes.reset();
    if (this.size >= this.minChars) this.emit(this.size, terminated);
    this.size = 0;
  }

  private cut(): void {
    const bracket = this.chars.lastIndexOf(BRACKET);
    const end = bracket >= MAX_LINE_CHARS - CUT_WINDOW_CHARS ? bracket : MAX_LINE_CHARS;
    this.emit(end, false);
    this.chars.copyWithin(0, end);
    this.offsets.copyWithin(0, end);
    this.size = MAX_LINE_CHARS - end;
  }

  private emit(end: number, terminated: boolean): void {
    const text = this.decoder.decode(this.chars.subarray(0, end));
    let from = 0;
    let stamp: Stamp | null = null;
    for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) {
      const next = stampAt(text, at);
      if (next === null) continue;
      this.hand(text, from, next.start, stamp, terminated);
      from = next.start;
      stamp = next;
      at = next.end - 1;
    }
    this.hand(text, from, end, stamp, terminated);
  }

  private hand(text: string, from: number, to: number, stamp: Stamp | null, terminated: boolean): void {
    if (to === from) return;
    const message =
      stamp === null
        ? withoutPrefix(text.slice(from, to))
        : { text: text.slice(stamp.end, to), isKernel: stamp.isKernel, seconds: stamp.seconds };
    const trimmed = message.text.trim();
    if (trimmed === '' && stamp === null) return;
    const first = this.offsets[from] as number;
    this.onLine({
      text: trimmed,
      offset: first,
      length: (this.offsets[to - 1] as number) + 1 - first,
      clockSeconds: message.seconds,
      caller: stamp?.caller ?? null,
      stamped: message.isKernel,
      terminated: terminated || to < text.length,
    });
  }
}
