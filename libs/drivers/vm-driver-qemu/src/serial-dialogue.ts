import type { Duplex } from 'node:stream';
import { deadlineSignal, HeadTailBuffer, kernelError, type DomainError } from '@inquest/kernel';
import { vmDriverError, type SerialCommand, type SerialResult } from '@inquest/vm-driver';
import { Marker, MarkerSearch } from './marker-line';
import { TerminalText } from './terminal-text';
import { typedCommand } from './typed-command';

/** A shell that reads answers within 100 ms; the guest may be emulated, busy, or still starting its shell. */
const GREETING_MS = 20_000;
/** Before the greeting is repeated for the first time; each wait is twice as long as the one before. */
const FIRST_REPEAT_MS = 1_000;
/** How long an interrupted command may take to give the shell back. */
const INTERRUPT_MS = 2_000;
/** Of what the guest sent last, for the message of an error. */
const LAST_SEEN_BYTES = 200;
const EXIT_CODE_MAX = 255;
/** The interrupt character of a terminal (Ctrl-C): ends what is running there, or what was typed of a line. */
const INTERRUPT = '\x03';
const ENTER = '\r';

type SerialError = 'VM_SERIAL_SILENT' | 'VM_SERIAL_GARBLED' | 'VM_SERIAL_TIMEOUT';

/** The search for a marker that somebody waits for. */
interface Expectation {
  readonly search: MarkerSearch;
  readonly before: (bytes: Uint8Array) => void;
  readonly found: (number: number | null) => void;
  readonly failed: (error: unknown) => void;
}

const NOWHERE = (): void => undefined;

/** Runs one command in the shell that reads from `port`, whose owner closes it afterwards. Errors as of `execSerial`. */
export async function runInSerialShell(
  port: Duplex,
  machineId: string,
  { command, timeoutMs, maxOutputBytes }: SerialCommand,
  callerSignal: AbortSignal,
): Promise<SerialResult> {
  const dialogue = new SerialDialogue(port, machineId, callerSignal);
  const deadline = deadlineSignal(timeoutMs, callerSignal);
  const { lines, run } = typedCommand(command);
  await dialogue.greet(deadlineSignal(GREETING_MS, deadline));
  for (const { line, totalChars } of lines) await dialogue.type(line, totalChars, deadline);
  try {
    return await dialogue.run(run, maxOutputBytes, deadline);
  } catch (e) {
    if (deadline.aborted) await dialogue.interrupt();
    throw e;
  }
}

/** Questions to a shell, each with a marker of its own, and the answers. */
class SerialDialogue {
  private readonly recent = new HeadTailBuffer(0, LAST_SEEN_BYTES);
  private expected: Expectation | null = null;
  private unread: Buffer = Buffer.alloc(0);
  private isClosed = false;

  constructor(
    private readonly port: Duplex,
    private readonly machineId: string,
    private readonly callerSignal: AbortSignal,
  ) {
    port.on('data', (chunk: Buffer) => this.take(chunk));
    // What was wrong is of no use: without the port there is no shell.
    port.on('error', NOWHERE);
    port.once('close', () => {
      this.isClosed = true;
      this.expected?.failed(this.error('VM_SERIAL_GARBLED', 'closed its second serial port'));
    });
  }

  /** Waits until the shell answers, whatever ran in it before. */
  async greet(signal: AbortSignal): Promise<void> {
    const marker = new Marker();
    const answered = this.expect(marker, NOWHERE, signal, 'VM_SERIAL_SILENT', 'has no shell that answers');
    let repeatMs = FIRST_REPEAT_MS;
    const say = (): void => {
      this.port.write(`${INTERRUPT}${ENTER}${marker.printing('0')}${ENTER}`);
      timer = setTimeout(say, repeatMs);
      repeatMs *= 2;
    };
    let timer: NodeJS.Timeout | undefined;
    say();
    await answered.finally(() => clearTimeout(timer));
  }

  /** Adds one line to the command in the shell, and has the shell count what arrived. */
  async type(line: string, totalChars: number, signal: AbortSignal): Promise<void> {
    const marker = new Marker();
    const typed = this.expect(marker, NOWHERE, signal, 'VM_SERIAL_SILENT', 'fell silent before the command was run');
    this.port.write(`${line}; ${marker.printing('${#inquest_command}')}${ENTER}`);
    const arrived = await typed;
    if (arrived !== totalChars) throw this.error('VM_SERIAL_GARBLED', 'lost a part of the command, which was not run');
  }

  /** Runs what was typed; its output is between two markers. */
  async run(run: string, maxOutputBytes: number, signal: AbortSignal): Promise<SerialResult> {
    const [begin, end] = [new Marker(), new Marker()];
    const kept = new HeadTailBuffer(Math.ceil(maxOutputBytes / 2), Math.floor(maxOutputBytes / 2));
    const text = new TerminalText();
    const late = ['VM_SERIAL_TIMEOUT', 'has not ended the command in time'] as const;
    const begun = this.expect(begin, NOWHERE, signal, ...late);
    this.port.write(`${begin.printing('0')}; ${run}; ${end.printing('$?')}${ENTER}`);
    await begun;
    const exitCode = await this.expect(end, (bytes) => kept.write(text.write(bytes)), signal, ...late);
    if (exitCode > EXIT_CODE_MAX) throw this.error('VM_SERIAL_GARBLED', `told an exit status of ${exitCode}`);
    const { head, tail, droppedBytes } = kept.read();
    const output = { head, tail, totalBytes: kept.totalBytes, isTruncated: droppedBytes > 0 };
    return { exitCode, output };
  }

  /** Sends an interrupt and gives the shell a moment to come back, for the next command. Never rejects. */
  async interrupt(): Promise<void> {
    if (!this.isClosed) await this.greet(AbortSignal.timeout(INTERRUPT_MS)).catch(NOWHERE);
  }

  /** The number in the marker's line, once it came. Rejects with that error when `signal` aborts. */
  private async expect(
    marker: Marker,
    before: (bytes: Uint8Array) => void,
    signal: AbortSignal,
    code: SerialError,
    what: string,
  ): Promise<number> {
    const onAbort = (): void => this.expected?.failed(this.aborted(code, what));
    try {
      const found = new Promise<number | null>((resolve, reject) => {
        this.expected = { search: new MarkerSearch(marker), before, found: resolve, failed: reject };
      });
      signal.addEventListener('abort', onAbort, { once: true });
      if (this.isClosed) this.expected?.failed(this.error('VM_SERIAL_GARBLED', 'closed its second serial port'));
      if (signal.aborted) onAbort();
      this.port.resume();
      this.search(this.unread);
      const number = await found;
      if (number !== null) return number;
      throw this.error('VM_SERIAL_GARBLED', 'ended a command without its status');
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.expected = null;
    }
  }

  private take(chunk: Buffer): void {
    this.recent.write(chunk);
    this.search(chunk);
  }

  /** Without anybody who waits for an answer, as after a deadline, it is noise. */
  private search(bytes: Buffer): void {
    const { expected } = this;
    if (expected === null) return;
    this.unread = Buffer.alloc(0);
    const found = expected.search.push(bytes, expected.before);
    if (found === null) return;
    // What comes behind an answer waits, at its source, until somebody looks for the next.
    this.port.pause();
    this.expected = null;
    this.unread = found.rest;
    expected.found(found.number);
  }

  private aborted(code: SerialError, what: string): DomainError {
    if (!this.callerSignal.aborted) return this.error(code, what);
    const { machineId } = this;
    const message = `the command by the serial port of machine ${machineId} was cancelled`;
    return kernelError('OPERATION_ABORTED', message, { machineId }, this.callerSignal.reason);
  }

  private error(code: SerialError, what: string): DomainError {
    const { machineId } = this;
    const lastSeen = JSON.stringify(Buffer.from(this.recent.read().tail).toString('latin1'));
    return vmDriverError(code, `the guest of machine ${machineId} ${what}; last seen: ${lastSeen}`, { machineId });
  }
}
