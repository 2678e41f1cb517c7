import { HeadTailBuffer, kernelError } from '@inquest/kernel';
import {
  parseExecExit,
  parseExecStarted,
  type ExecCommand,
  type ExecExit,
  type ExecOptions,
  type ExecRequest,
  type ExecStarted,
} from '@inquest/frame-protocol';
import { type AgentConnection } from './agent-connection';
import { CallDeadline, type CallOptions } from './call-deadline';
import { type FrameChannel } from './frame-channel';

/** A piece of what a command wrote. */
export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
}

/** How much of each output `execBounded` keeps. */
export interface OutputBounds {
  readonly headBytes: number;
  readonly tailBytes: number;
}

/** One output of a command that has ended. */
export interface BoundedOutput {
  readonly head: Uint8Array;
  /** Continues `head` when nothing was dropped. */
  readonly tail: Uint8Array;
  readonly totalBytes: number;
  readonly isTruncated: boolean;
}

/** A command that has ended, with what was kept of its outputs. */
export interface BoundedExec extends ExecStarted, ExecExit {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
}

/** The guest enforces `timeoutMs`; this is what it gets on top to kill, drain (500 ms) and report before it counts as silent. */
const EXIT_GRACE_MS = 20_000;

/**
 * A command that runs in the guest. Iterate `output` to its end: a reader that pauses slows the command down. Leaving the
 * iteration, `kill`, or the abort of the caller's signal closes the stream, on which the guest kills the whole
 * process group.
 */
export class GuestExec implements AsyncDisposable {
  /**
   * Settles when the iteration of `output` has come to its end, or the call ends early. Rejects with the reason; an
   * unwatched rejection is not an unhandled one.
   */
  readonly exit: Promise<ExecExit>;
  private resolveExit: (exit: ExecExit) => void = () => undefined;
  private rejectExit: (reason: unknown) => void = () => undefined;
  private hasExited = false;

  private constructor(
    /** What the guest said when the command had started. */
    readonly started: ExecStarted,
    private readonly channel: FrameChannel,
    private readonly deadline: CallDeadline,
  ) {
    this.exit = new Promise((resolve, reject) => {
      this.resolveExit = resolve;
      this.rejectExit = reject;
    });
    this.exit.catch(() => undefined);
    deadline.signal.addEventListener('abort', () => this.rejectExit(deadline.signal.reason), { once: true });
  }

  /**
   * Resolves once the command runs. Rejects with `EXEC_*` when it could not be run (then nothing was), `LINK_CLOSED`,
   * `AGENT_ANSWER_LATE` or `OPERATION_ABORTED`.
   */
  static async start(
    connection: AgentConnection,
    command: ExecCommand,
    options: ExecOptions & CallOptions,
  ): Promise<GuestExec> {
    const { signal, deadlineMs, ...execOptions } = options;
    const request: ExecRequest = { op: 'exec', ...command, ...execOptions };
    const deadline = new CallDeadline('exec', deadlineMs === undefined ? { signal } : { signal, deadlineMs });
    try {
      const channel = await connection.open(request, deadline);
      try {
        const started = parseExecStarted(await channel.nextControl());
        if (options.timeoutMs) deadline.restart(options.timeoutMs + EXIT_GRACE_MS);
        else deadline.disarm();
        return new GuestExec(started, channel, deadline);
      } catch (e) {
        channel.close();
        throw e;
      }
    } catch (e) {
      deadline.clear();
      throw deadline.explain(e);
    }
  }

  /** What the command writes, in order for each stream. May be iterated once. Throws as `exit` rejects. */
  get output(): AsyncIterable<OutputChunk> {
    return this.readOutput();
  }

  /** Feeds standard input, which `stdin` or `pty` must have asked for. Resolves when more may be written. */
  writeStdin(bytes: Uint8Array): Promise<void> {
    return this.channel.sendData('data-to-guest', bytes);
  }

  /** Closes standard input; on a terminal it types the end-of-file key, once. */
  endStdin(): Promise<void> {
    return this.channel.sendEnd();
  }

  /** Closes the stream: the guest kills the process group, unless it was detached. Idempotent. */
  kill(): void {
    this.deadline.clear();
    if (this.hasExited) return this.channel.close();
    const reason = kernelError('OPERATION_ABORTED', 'the command was abandoned before it ended');
    this.rejectExit(reason);
    this.channel.close(reason);
  }

  /** As `kill`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    return Promise.resolve();
  }

  private async *readOutput(): AsyncGenerator<OutputChunk, void, undefined> {
    try {
      for (;;) {
        const frame = await this.channel.next();
        if (frame.kind === 'stdout' || frame.kind === 'stderr') {
          yield { stream: frame.kind, bytes: frame.bytes };
        } else if (frame.kind === 'control') {
          this.resolveExit(parseExecExit(frame.body));
          this.hasExited = true;
          return;
        } else {
          throw this.channel.outOfOrder(frame);
        }
      }
    } catch (e) {
      const reason = this.deadline.explain(e);
      this.rejectExit(reason);
      throw reason;
    } finally {
      // After an exit there is nothing to kill: the stream is closed once whoever waits for the exit has been told.
      if (this.hasExited) setImmediate(() => this.kill());
      else this.kill();
    }
  }
}

/** Runs a command to its end and keeps the head and the tail of each output, so memory stays flat. Rejects as `GuestExec` does. */
export async function execBounded(
  connection: AgentConnection,
  command: ExecCommand,
  options: ExecOptions & CallOptions & { readonly bounds: OutputBounds },
): Promise<BoundedExec> {
  const { bounds, ...execOptions } = options;
  const buffers = {
    stdout: new HeadTailBuffer(bounds.headBytes, bounds.tailBytes),
    stderr: new HeadTailBuffer(bounds.headBytes, bounds.tailBytes),
  };
  const exec = await GuestExec.start(connection, command, execOptions);
  for await (const { stream, bytes } of exec.output) buffers[stream].write(bytes);
  const exit = await exec.exit;
  return { ...exec.started, ...exit, stdout: readBounded(buffers.stdout), stderr: readBounded(buffers.stderr) };
}

function readBounded(buffer: HeadTailBuffer): BoundedOutput {
  const { head, tail, droppedBytes } = buffer.read();
  return { head, tail, totalBytes: buffer.totalBytes, isTruncated: droppedBytes > 0 };
}
