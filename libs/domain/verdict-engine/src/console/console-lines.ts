/** A console line longer than this is handed out in pieces. printk's own limit is 1024 bytes (LOG_LINE_MAX). */
export const MAX_LINE_CHARS = 4096;

/** How far back from a forced cut a piece may end so that no printk stamp is torn. */
const CUT_WINDOW_CHARS = 64;

/**
 * A printk timestamp, `[   12.345678] `, as the kernel's print_time() writes it; vendors add a CPU (`@0`), and
 * CONFIG_PRINTK_CALLER a task or CPU (`[   T123]`). Every quantifier is bounded.
 */
const STAMP = /\[ {0,12}(\d{1,10}\.\d{3,9})(?:[@,]\d{1,3})?\](?: ?\[ {0,8}[TC]\d{1,10}\])? ?/y;

/** What syslog daemons and `journalctl -k` put before a kernel message. */
const SYSLOG_KERNEL = ' kernel: ';
const SYSLOG_PREFIX_MAX_CHARS = 100;

/** A message on the console: one line, or the part of a line that begins with a printk timestamp. */
export interface ConsoleLine {
  /** The message, trimmed: no escape sequences, control characters, timestamp or syslog prefix. One character per byte. */
  readonly text: string;
  /** First byte of the line, or of its timestamp, in the console log. */
  readonly offset: number;
  readonly length: number;
  /** The printk timestamp in seconds since that boot; null without one. */
  readonly clockSeconds: number | null;
  /** Has the form in which the kernel prints: with a timestamp, or with a syslog daemon's `kernel:`. */
  readonly stamped: boolean;
  /** A newline followed: the line is whole. */
  readonly terminated: boolean;
}

/** The messages of a console log in order. */
export interface ConsoleLog {
  readonly lines: readonly ConsoleLine[];
  /**
   * Those that the kernel can have printed. Where the kernel stamps its messages, text without a stamp is a program's;
   * where nothing is stamped (printk.time=0) every line is taken.
   */
  readonly kernelLines: readonly ConsoleLine[];
}

/** Splits a console log into messages. Linear in its length; never throws, whatever the bytes. */
export function readConsole(bytes: Uint8Array): ConsoleLog {
  const lines: ConsoleLine[] = [];
  const pending = new PendingLine(lines);
  const escapes = new EscapeFilter();
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === NEWLINE) {
      escapes.reset();
      pending.end(true);
    } else if (escapes.isText(byte)) {
      pending.add(byte, at);
    }
  }
  pending.end(false);
  const stamped = lines.filter((line) => line.stamped);
  return { lines, kernelLines: stamped.length > 0 ? stamped : lines };
}

const NEWLINE = 0x0a;
const TAB = 0x09;
const ESCAPE = 0x1b;
const BELL = 0x07;

/** Drops ECMA-48 escape sequences (CSI, OSC and two-byte ones) and control characters, carriage returns among them. */
class EscapeFilter {
  private state: 'text' | 'escape' | 'csi' | 'osc' = 'text';

  /** True when the byte is text. An unfinished sequence ends with its line at the latest. */
  isText(byte: number): boolean {
    switch (this.state) {
      case 'text':
        if (byte === ESCAPE) this.state = 'escape';
        return byte >= 0x20 ? byte !== 0x7f : byte === TAB;
      case 'escape':
        this.state = byte === 0x5b ? 'csi' : byte === 0x5d ? 'osc' : byte >= 0x20 && byte <= 0x2f ? 'escape' : 'text';
        return false;
      case 'csi':
        // Parameter and intermediate bytes are 0x20-0x3f; anything else ends the sequence.
        if (byte < 0x20 || byte > 0x3f) this.state = byte === ESCAPE ? 'escape' : 'text';
        return false;
      case 'osc':
        if (byte === BELL) this.state = 'text';
        else if (byte === ESCAPE) this.state = 'escape';
        return false;
    }
  }

  reset(): void {
    this.state = 'text';
  }
}

/** Collects the text of one line, remembering where each character stood, and splits it into messages. */
class PendingLine {
  private readonly chars = new Uint8Array(MAX_LINE_CHARS);
  private readonly offsets = new Uint32Array(MAX_LINE_CHARS);
  private readonly decoder = new TextDecoder('latin1');
  private size = 0;

  constructor(private readonly lines: ConsoleLine[]) {}

  add(byte: number, offset: number): void {
    if (this.size === MAX_LINE_CHARS) this.cut();
    this.chars[this.size] = byte;
    this.offsets[this.size] = offset;
    this.size++;
  }

  end(terminated: boolean): void {
    this.emit(this.size, terminated);
    this.size = 0;
  }

  private cut(): void {
    const bracket = this.chars.lastIndexOf(0x5b);
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
      this.push(text, from, at, stamp, terminated);
      from = at;
      stamp = next;
      at = next.end - 1;
    }
    this.push(text, from, end, stamp, terminated);
  }

  private push(text: string, from: number, to: number, stamp: Stamp | null, terminated: boolean): void {
    const message =
      stamp === null ? withoutPrefix(text.slice(from, to)) : { text: text.slice(stamp.end, to), syslog: false };
    const trimmed = message.text.trim();
    if (trimmed === '' && stamp === null) return;
    const first = this.offsets[from] as number;
    this.lines.push({
      text: trimmed,
      offset: first,
      length: (this.offsets[to - 1] as number) + 1 - first,
      clockSeconds: stamp?.seconds ?? null,
      stamped: stamp !== null || message.syslog,
      terminated: terminated || to < text.length,
    });
  }
}

interface Stamp {
  readonly seconds: number;
  /** Index of the first character after it. */
  readonly end: number;
}

function stampAt(text: string, at: number): Stamp | null {
  STAMP.lastIndex = at;
  const match = STAMP.exec(text);
  return match === null ? null : { seconds: Number(match[1]), end: STAMP.lastIndex };
}

function withoutPrefix(text: string): { readonly text: string; readonly syslog: boolean } {
  const kernel = text.slice(0, SYSLOG_PREFIX_MAX_CHARS).indexOf(SYSLOG_KERNEL);
  if (kernel !== -1) return { text: text.slice(kernel + SYSLOG_KERNEL.length), syslog: true };
  // The console level that a serial dump of /dev/kmsg keeps, as in "<6>".
  return { text: text.replace(/^<\d{1,3}>/, ''), syslog: false };
}
