import type { Readable, Writable } from 'node:stream';
import type { CliContext } from '../context';

type TerminalInput = Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
type TerminalOutput = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** What a screen has when there is none: the size that programs expect (terminfo's default). */
const DEFAULT_SIZE = { cols: 80, rows: 24 } as const;
const TERM_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** The terminal that vmctl runs in; or the pipes, where it runs in none. */
export class LocalTerminal {
  /** A person types: every key goes to the guest as it is pressed. */
  readonly isInteractive: boolean;
  private readonly input: TerminalInput;
  private readonly output: TerminalOutput;

  constructor({ stdin, stdout, env }: Pick<CliContext, 'stdin' | 'stdout' | 'env'>) {
    this.input = stdin;
    this.output = stdout;
    this.isInteractive = this.input.isTTY === true && this.output.isTTY === true;
    const term = env['TERM'] ?? '';
    this.term = TERM_NAME.test(term) && term !== 'dumb' ? term : 'xterm-256color';
  }

  /** Its type, for the programs of the guest. */
  readonly term: string;

  get size(): { readonly cols: number; readonly rows: number } {
    const { columns, rows } = this.output;
    return columns && rows ? { cols: Math.min(columns, 1000), rows: Math.min(rows, 1000) } : DEFAULT_SIZE;
  }

  /** Resolves when the screen has taken it. */
  show(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => this.output.write(bytes, (e) => (e ? reject(e) : resolve())));
  }

  /** Hands on what is typed, the end of the input and new sizes, until the returned function is called. */
  listen(events: {
    readonly keys: (keys: Buffer) => void;
    readonly end: () => void;
    readonly resized: () => void;
  }): () => void {
    const { input, output } = this;
    if (this.isInteractive) input.setRawMode?.(true);
    const onData = (keys: Buffer | string): void => events.keys(Buffer.from(keys));
    input.on('data', onData).once('end', events.end);
    output.on('resize', events.resized);
    return () => {
      if (this.isInteractive) input.setRawMode?.(false);
      input.off('data', onData).off('end', events.end);
      output.off('resize', events.resized);
      // An input that nobody ends would keep us waiting for it.
      input.pause();
      input.destroy();
    };
  }
}
