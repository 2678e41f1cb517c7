const TAB = 0x09;
const BELL = 0x07;
const ESCAPE = 0x1b;
const DELETE = 0x7f;

/** Drops ECMA-48 escape sequences (CSI, OSC and two-byte ones) and control characters, carriage returns among them. */
export class EscapeFilter {
  private state: 'text' | 'escape' | 'csi' | 'osc' = 'text';

  /** True when the byte is text. */
  isText(byte: number): boolean {
    switch (this.state) {
      case 'text':
        if (byte === ESCAPE) this.state = 'escape';
        return byte >= 0x20 ? byte !== DELETE : byte === TAB;
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

  /** A new line: a sequence that was not finished ends with the old one. */
  reset(): void {
    this.state = 'text';
  }
}
