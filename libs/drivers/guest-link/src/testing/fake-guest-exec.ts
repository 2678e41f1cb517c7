import { type JsonObject } from '@inquest/frame-protocol';
import { type FrameChannel } from '../client/frame-channel';
import { FakeTerminal } from './fake-terminal';

/** What a scripted command does. */
export interface FakeExecResult {
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  /** Default 0. */
  readonly code?: number;
  /** Signal that ended it, in place of a code. */
  readonly signal?: string;
  /** Writes its output and then runs until it is signalled, its timeout passes or its stream closes. */
  readonly hangs?: boolean;
  /** A failure to run it, such as `EXEC_NOT_FOUND`; nothing else happens. */
  readonly error?: string;
}

/** Decides what a command does; null means a program that does not exist. */
export type FakeExecScript = (command: string, request: JsonObject) => FakeExecResult | null;

/** The exec and signal ops of the fake guest. */
export class FakeGuestExecs {
  /** What a command line does: the shell string, or argv joined by spaces. Asked before `script`. */
  readonly results = new Map<string, FakeExecResult>();
  script: FakeExecScript = () => null;
  /** Every terminal that a command was given, newest last. The test plays the command that has it. */
  readonly terminals: FakeTerminal[] = [];

  private readonly running = new Map<string, (signal: string) => void>();
  private readonly openTerminals = new Map<string, FakeTerminal>();
  private started = 0;

  /** Commands that run now. */
  get runningCount(): number {
    return this.running.size + this.openTerminals.size;
  }

  async exec(channel: FrameChannel, request: JsonObject): Promise<void> {
    const command = commandLine(request);
    const result = this.results.get(command) ?? this.script(command, request);
    const error = result === null ? 'EXEC_NOT_FOUND' : result.error;
    if (result === null || error !== undefined) {
      return channel.sendControl({ type: 'error', code: error, message: `cannot run ${command}` });
    }
    this.started++;
    const execId = `e-${this.started}`;
    await channel.sendControl({ type: 'started', execId, pid: 100 + this.started });
    if (request['pty'] !== undefined) return this.playTerminal(channel, execId, result);
    const stdout = Buffer.from(result.stdout ?? '');
    const stderr = Buffer.from(result.stderr ?? '');
    await channel.sendData('stdout', stdout);
    await channel.sendData('stderr', stderr);
    const ending = result.hangs
      ? await this.hang(channel, execId, request)
      : { signal: result.signal ?? null, timedOut: false };
    await channel.sendControl({
      type: 'exit',
      code: ending.signal === null ? (result.code ?? 0) : null,
      ...ending,
      stdoutBytes: stdout.length,
      stderrBytes: stderr.length,
      durationMs: 1,
    });
  }

  async signal(channel: FrameChannel, request: JsonObject): Promise<void> {
    const deliver = this.running.get(String(request['execId']));
    if (!deliver) return channel.sendControl({ type: 'error', code: 'EXEC_ID_UNKNOWN', message: 'no such exec' });
    deliver(String(request['signal']));
    await channel.sendControl({ type: 'ok' });
  }

  async resize(channel: FrameChannel, request: JsonObject): Promise<void> {
    const execId = String(request['execId']);
    const terminal = this.openTerminals.get(execId);
    if (!terminal) {
      const code = this.running.has(execId) ? 'EXEC_TERMINAL_MISSING' : 'EXEC_ID_UNKNOWN';
      return channel.sendControl({ type: 'error', code, message: 'no such terminal' });
    }
    terminal.sizes.push({ cols: Number(request['cols']), rows: Number(request['rows']) });
    await channel.sendControl({ type: 'ok' });
  }

  private async playTerminal(channel: FrameChannel, execId: string, { stdout }: FakeExecResult): Promise<void> {
    const terminal = new FakeTerminal(channel);
    this.terminals.push(terminal);
    this.openTerminals.set(execId, terminal);
    try {
      await terminal.show(stdout ?? '');
      await terminal.play();
    } finally {
      this.openTerminals.delete(execId);
    }
  }

  /** Until a signal, the timeout, or the end of the stream, which rejects as it does in a real agent. */
  private async hang(
    channel: FrameChannel,
    execId: string,
    request: JsonObject,
  ): Promise<{ readonly signal: string; readonly timedOut: boolean }> {
    const timeoutMs = Number(request['timeoutMs'] ?? 0);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.running.set(execId, (signal) => resolve({ signal, timedOut: false }));
        if (timeoutMs > 0) timer = setTimeout(() => resolve({ signal: 'SIGKILL', timedOut: true }), timeoutMs);
        channel.next().catch(reject);
      });
    } finally {
      clearTimeout(timer);
      this.running.delete(execId);
    }
  }
}

function commandLine(request: JsonObject): string {
  const { argv, shell } = request;
  return typeof shell === 'string' ? shell : Array.isArray(argv) ? argv.join(' ') : '';
}
