import { Duplex } from 'node:stream';

const MARKER = /printf '\\n%s%s:%s\\n' (\w+) (\w+) (\S+)/g;
const ASSIGNMENT = /^inquest_command=(\$inquest_command)?'([^']*)'; /;

/** What a command does on the port, and its exit status. */
export interface PlayedCommand {
  readonly output: Uint8Array;
  /** As the shell would print it; null = the command does not end. */
  readonly status: string | null;
}

/** How a guest may behave; by default it is honest. */
export interface ShellDoubleOptions {
  readonly play?: (command: string) => PlayedCommand;
  /** Of what the guest writes, at most so many bytes arrive at once. */
  readonly pieceBytes?: number;
  /** Characters that the guest loses of each typed line that is part of a command. */
  readonly lostChars?: number;
  /** Says nothing until it was greeted so often. */
  readonly deafGreetings?: number;
}

/** The host's end of a serial port with a shell behind it that echoes what is typed and knows what it has to. */
export class ShellDouble extends Duplex {
  /** Commands that were run. */
  readonly commands: string[] = [];
  /** Interrupts that came. */
  interrupts = 0;
  /** All that the guest wrote. */
  written = '';
  private line = '';
  private variable = '';

  constructor(private readonly options: ShellDoubleOptions = {}) {
    super();
  }

  override _read(): void {
    // What the guest says is pushed when it says it.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (const character of chunk.toString('latin1')) this.hear(character);
    done();
  }

  /** The guest writes on the port. */
  say(bytes: Uint8Array | string): void {
    const all = Buffer.from(bytes);
    this.written += all.toString('latin1');
    const { pieceBytes = all.length } = this.options;
    for (let at = 0; at < all.length; at += pieceBytes) this.push(all.subarray(at, at + pieceBytes));
  }

  private hear(character: string): void {
    if (character === '\x03') {
      this.interrupts++;
      this.line = '';
    } else if (character !== '\r') {
      this.line += character;
    } else {
      const { line } = this;
      this.line = '';
      if (this.interrupts > (this.options.deafGreetings ?? 0)) this.perform(line);
    }
  }

  private perform(line: string): void {
    this.say(`\x1b[6n/ # ${line}\x1b[J\r\n`);
    const [, isLonger, part] = ASSIGNMENT.exec(line) ?? [];
    if (part !== undefined) {
      this.variable = (isLonger === undefined ? '' : this.variable) + part.slice(this.options.lostChars ?? 0);
    }
    const [first, second] = [...line.matchAll(MARKER)];
    if (first === undefined) return;
    this.mark(first, second === undefined ? (first[3] ?? '') : '0');
    if (second !== undefined) this.run(second);
  }

  private run(end: RegExpMatchArray): void {
    const command = Buffer.from(
      this.variable.replace(/\\0([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
      'latin1',
    ).toString('utf8');
    this.commands.push(command);
    const { output, status } = this.options.play?.(command) ?? { output: new Uint8Array(), status: '0' };
    this.say(output);
    if (status !== null) this.mark(end, status);
  }

  private mark([, first, second]: RegExpMatchArray, word: string): void {
    const number = word === '${#inquest_command}' ? String(this.variable.length) : word;
    this.say(`\r\n${first}${second}:${number}\r\n`);
  }
}
