import { type TerminalSize } from '@inquest/frame-protocol';
import { type FrameChannel } from '../client/frame-channel';

/** The terminal of a command in the fake guest. The test shows things on it and sees what is typed. */
export class FakeTerminal {
  /** New sizes, in order. */
  readonly sizes: TerminalSize[] = [];
  /** What was typed so far, as latin1. */
  typed = '';
  /** The host said that no more input comes. */
  isInputEnded = false;
  /** The host dropped the stream, on which a real guest kills the command. */
  isHungUp = false;
  private shownBytes = 0;
  private readonly waiting = new Set<() => void>();
  private endCommand: (code: number) => void = () => undefined;
  private readonly ended = new Promise<number>((resolve) => (this.endCommand = resolve));

  constructor(private readonly channel: FrameChannel) {}

  /** Resolves once what was typed ends with `text`. */
  whenTyped(text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.typed.endsWith(text)) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  /** Resolves when the stream takes more: a host that does not read slows its guest. */
  async show(output: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(output);
    this.shownBytes += bytes.length;
    await this.channel.sendData('stdout', bytes);
  }

  /** The command exits. */
  end(code = 0): void {
    this.endCommand(code);
  }

  /** Until the command ends, or the host drops the stream, on which it rejects. */
  async play(): Promise<void> {
    const code = await Promise.race([this.ended, this.readInput()]);
    const counts = { stdoutBytes: this.shownBytes, stderrBytes: 0, durationMs: 1 };
    await this.channel.sendControl({ type: 'exit', code, signal: null, timedOut: false, ...counts });
  }

  private async readInput(): Promise<never> {
    try {
      for (;;) {
        const frame = await this.channel.next();
        if (frame.kind === 'data-to-guest') this.typed += Buffer.from(frame.bytes).toString('latin1');
        else if (frame.kind === 'end') this.isInputEnded = true;
        for (const look of this.waiting) look();
      }
    } catch (e) {
      this.isHungUp = true;
      throw e;
    }
  }
}
