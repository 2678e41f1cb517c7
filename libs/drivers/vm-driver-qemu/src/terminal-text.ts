/** Of one control string (OSC, DCS, APC, PM, SOS); what pretends to be a longer one is text again behind it. */
const CONTROL_STRING_MAX_BYTES = 4096;

const LF = 0x0a;
const CR = 0x0d;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
/** Introducer of parameters (CSI), and those of strings: DCS, SOS, OSC, PM, APC (ECMA-48, 7-bit forms). */
const CSI = 0x5b;
const STRING_INTRODUCERS: readonly number[] = [0x50, 0x58, 0x5d, 0x5e, 0x5f];

type State = 'text' | 'escape' | 'intermediate' | 'parameters' | 'string' | 'string-escape';

/**
 * What a terminal would have been sent, as the bytes of a text: without control sequences and control strings, and with
 * line ends of one character. Holds back no more than one carriage return between two writes.
 */
export class TerminalText {
  private state: State = 'text';
  private stringBytes = 0;
  private hasReturn = false;

  /** The text in the next bytes. */
  write(chunk: Uint8Array): Uint8Array {
    const text: number[] = [];
    for (const byte of chunk) this.take(byte, text);
    return Uint8Array.from(text);
  }

  private take(byte: number, text: number[]): void {
    switch (this.state) {
      case 'text':
        return this.takeText(byte, text);
      case 'escape':
        this.state = afterEscape(byte);
        this.stringBytes = 0;
        return;
      case 'intermediate':
        if (!isIntermediate(byte)) this.state = 'text';
        return;
      case 'parameters':
        if (byte === ESC) this.state = 'escape';
        else if (byte < 0x20 || byte >= 0x40) this.state = 'text';
        return;
      case 'string':
        return this.takeString(byte);
      case 'string-escape':
        this.state = byte === 0x5c ? 'text' : afterEscape(byte);
        this.stringBytes = 0;
        return;
    }
  }

  private takeText(byte: number, text: number[]): void {
    if (this.hasReturn && byte !== LF) text.push(CR);
    this.hasReturn = byte === CR;
    if (byte === ESC) this.state = 'escape';
    else if (byte !== CR) text.push(byte);
  }

  private takeString(byte: number): void {
    this.stringBytes++;
    if (byte === ESC) this.state = 'string-escape';
    else if ([BEL, CAN, SUB].includes(byte) || this.stringBytes >= CONTROL_STRING_MAX_BYTES) this.state = 'text';
  }
}

function afterEscape(byte: number): State {
  if (byte === ESC) return 'escape';
  if (byte === CSI) return 'parameters';
  if (STRING_INTRODUCERS.includes(byte)) return 'string';
  return isIntermediate(byte) ? 'intermediate' : 'text';
}

const isIntermediate = (byte: number): boolean => byte >= 0x20 && byte <= 0x2f;
