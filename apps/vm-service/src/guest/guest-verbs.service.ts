import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import {
  vmError,
  type CancelExecRequest,
  type CancelledExecView,
  type ExecRequest,
  type ExecView,
  type IncarnationRequest,
  type ListFilesRequest,
  type ListFilesView,
  type ReadFileRequest,
  type ReadFileView,
  type WriteFileRequest,
  type WriteFileView,
} from '@inquest/contracts-vm';
import type { LiveMachine } from '../machines/live-machine';
import { LiveMachines } from './live-machines';
import { execOutputView, replyText } from './reply-text';

/** A small transfer to or from a guest that may be emulated and busy. */
const TRANSFER_TIMEOUT_MS = 25_000;
/** A command without a limit of its own: its caller waits no longer either. */
const LONGEST_EXEC_MS = 3_600_000;

/** Verbs on a guest whose results fit into a reply. */
@Injectable()
export class GuestVerbsService {
  /** Commands that may be cancelled, by machine and exec id. */
  private readonly running = new Map<string, AbortController>();

  constructor(private readonly machines: LiveMachines) {}

  /**
   * A command to its end. Throws `EXEC_*` when it could not be run, `MACHINE_LOST` when the machine went with it, and
   * `OPERATION_ABORTED` when it was cancelled.
   */
  async exec(request: ExecRequest): Promise<ExecView> {
    const cancel = new AbortController();
    const limit = setTimeout(() => cancel.abort(new Error('nobody waits for the command any more')), LONGEST_EXEC_MS);
    limit.unref();
    const key = request.execId === null ? null : keyOf(request);
    // Before anything is awaited, so that a cancellation that follows at once finds it.
    if (key !== null) this.running.set(key, cancel);
    try {
      return await this.with(request, (machine) => this.execOn(machine, request, cancel.signal));
    } finally {
      clearTimeout(limit);
      if (key !== null) this.running.delete(key);
    }
  }

  /** Kills a command that runs, with everything it started. */
  cancelExec(request: CancelExecRequest): CancelledExecView {
    const controller = this.running.get(keyOf(request));
    controller?.abort(new Error('the command was cancelled'));
    return { isCancelled: controller !== undefined };
  }

  /** The front of a regular file as text. Throws `GUEST_PATH_UNFIT` and the guest's `PATH_*`. */
  readFile(request: ReadFileRequest): Promise<ReadFileView> {
    return this.with(request, async ({ agent }) => {
      const signal = AbortSignal.timeout(TRANSFER_TIMEOUT_MS);
      const { kind, size } = await agent.stat(request.path, { signal });
      if (kind !== 'file')
        throw vmError('GUEST_PATH_UNFIT', `${request.path} is no regular file but a ${kind}`, { path: request.path });
      const download = await agent.get(
        { path: request.path, kind: 'file' },
        { signal, maxBytes: Number.MAX_SAFE_INTEGER },
      );
      const front = await firstBytes(download.content, request.maxBytes);
      const { text, isLossy, keptBytes } = replyText(front, size > front.length);
      return { text, isLossy, sizeBytes: size, isTruncated: size > keptBytes };
    });
  }

  /** Replaces the file. Throws the guest's `PATH_*`, `DISK_FULL` and `EXEC_USER_UNKNOWN`. */
  writeFile(request: WriteFileRequest): Promise<WriteFileView> {
    return this.with(request, async ({ agent }) => {
      const content = Buffer.from(request.text);
      const target = {
        dest: request.path,
        kind: 'file' as const,
        ...present({ mode: request.mode, user: request.user }),
      };
      await agent.put(target, Readable.from([content]), { signal: AbortSignal.timeout(TRANSFER_TIMEOUT_MS) });
      return { sizeBytes: content.length };
    });
  }

  /** What is in a directory. Throws the guest's `PATH_*`. */
  listFiles(request: ListFilesRequest): Promise<ListFilesView> {
    return this.with(request, async ({ agent }) => {
      const signal = AbortSignal.timeout(TRANSFER_TIMEOUT_MS);
      const { entries, truncated } = await agent.list({ path: request.path, limit: request.limit }, { signal });
      return {
        isTruncated: truncated,
        entries: entries.map(({ name, kind, size, mode, mtimeMs }) => ({
          name,
          kind,
          sizeBytes: size,
          mode,
          modifiedAtMs: Math.max(0, Math.round(mtimeMs)),
        })),
      };
    });
  }

  private async execOn({ agent }: LiveMachine, request: ExecRequest, cancelled: AbortSignal): Promise<ExecView> {
    const half = Math.floor(request.maxOutputBytes / 2);
    const result = await agent.execBounded(
      { shell: request.command },
      {
        ...execOptions(request),
        signal: cancelled,
        bounds: { headBytes: half, tailBytes: half },
      },
    );
    return {
      exitCode: result.code,
      signal: result.signal,
      timedOut: result.timedOut,
      durationMs: result.durationMs,
      stdout: execOutputView(result.stdout),
      stderr: execOutputView(result.stderr),
    };
  }

  private async with<T>(request: IncarnationRequest, verb: (machine: LiveMachine) => Promise<T>): Promise<T> {
    const machine = await this.machines.require(request);
    return this.machines.run(machine, () => verb(machine));
  }
}

const keyOf = ({ machineId, execId }: { readonly machineId: string; readonly execId: string | null }): string =>
  `${machineId}/${execId}`;

/** The options of an exec that were given; the agent's defaults are for the others. */
export const execOptions = (request: Pick<ExecRequest, 'cwd' | 'env' | 'user' | 'timeoutMs'>) =>
  present({ cwd: request.cwd, env: request.env, user: request.user, timeoutMs: request.timeoutMs });

/** Without the properties that are null: absent means the default on the guest's wire. */
export function present<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

async function firstBytes(content: Readable, maxBytes: number): Promise<Buffer> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of content as AsyncIterable<Uint8Array>) {
    kept.push(Buffer.from(chunk.subarray(0, maxBytes - size)));
    size += chunk.length;
    if (size >= maxBytes) break; // leaving the loop destroys the stream, which ends the get in the guest
  }
  return Buffer.concat(kept);
}
