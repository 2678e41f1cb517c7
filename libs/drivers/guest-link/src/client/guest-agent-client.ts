import { randomUUID } from 'node:crypto';
import { type Readable } from 'node:stream';
import {
  parseList,
  parseMetrics,
  parseOk,
  parsePong,
  parseStat,
  type Beat,
  type ExecCommand,
  type ExecOptions,
  type FileList,
  type FileStat,
  type GetRequest,
  type GuestMetrics,
  type ListRequest,
  type MountRequest,
  type OfferRequest,
  type Pong,
  type PutRequest,
  type PutResult,
  type ReachRequest,
  type RebirthRequest,
  type RemoveRequest,
  type ResizeRequest,
  type ShutdownMode,
  type SignalRequest,
  type TailRequest,
} from '@inquest/frame-protocol';
import { linkError } from '../errors';
import { type GuestLink } from '../guest-link';
import { AgentConnection } from './agent-connection';
import { type CallOptions } from './call-deadline';
import { get, type GuestDownload } from './file-get';
import { put } from './file-put';
import { FileTail } from './file-tail';
import { execBounded, GuestExec, type BoundedExec, type OutputBounds } from './guest-exec';
import { watch } from './guest-watch';

/**
 * The host's side of the guest agent. Each call has a stream of its own, so a stuck one blocks no other. Every call may
 * reject with `LINK_CLOSED` (the guest is gone), `AGENT_ANSWER_LATE`, `OPERATION_ABORTED`, the error that the guest reports,
 * or a protocol error (`FRAME_*`, `ANSWER_INVALID`); then its stream is closed. Answers are the word of a guest.
 */
export class GuestAgentClient {
  private readonly connection: AgentConnection;

  /** Does not own the link. */
  constructor(link: GuestLink) {
    this.connection = new AgentConnection(link);
  }

  /** Asks the agent who it is. Rejects with `AGENT_NONCE_MISMATCH` when it answers somebody else's ping. */
  async ping(options: CallOptions & { readonly nonce?: string }): Promise<Pong> {
    const { nonce = randomUUID(), ...callOptions } = options;
    const pong = await this.connection.call({ op: 'ping', nonce }, parsePong, callOptions);
    if (pong.nonce !== nonce) throw linkError('AGENT_NONCE_MISMATCH', 'the guest agent answered with another nonce');
    return pong;
  }

  /** Starts a command; see `GuestExec`. */
  exec(command: ExecCommand, options: ExecOptions & CallOptions): Promise<GuestExec> {
    return GuestExec.start(this.connection, command, options);
  }

  /** Runs a command to its end and keeps the head and the tail of its outputs. A failing command is a result. */
  execBounded(
    command: ExecCommand,
    options: ExecOptions & CallOptions & { readonly bounds: OutputBounds },
  ): Promise<BoundedExec> {
    return execBounded(this.connection, command, options);
  }

  /** Sends a signal to the process group of an exec. Rejects with `EXEC_ID_UNKNOWN` or `EXEC_SIGNAL_INVALID`. */
  signal(request: Omit<SignalRequest, 'op'>, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'signal', ...request }, parseOk, options);
  }

  /** Changes the size of the terminal of an exec. Rejects with `EXEC_ID_UNKNOWN` or `EXEC_TERMINAL_MISSING`. */
  resize(request: Omit<ResizeRequest, 'op'>, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'resize', ...request }, parseOk, options);
  }

  /** Stores a file or unpacks a tar archive; owns `source`. The deadline runs anew with each chunk. See `put`. */
  put(request: Omit<PutRequest, 'op'>, source: Readable, options: CallOptions): Promise<PutResult> {
    return put(this.connection, request, source, options);
  }

  /** Reads a file, or a tree as a tar archive; verified at its end. See `GuestDownload`. */
  get(request: Omit<GetRequest, 'op'>, options: CallOptions & { readonly maxBytes: number }): Promise<GuestDownload> {
    return get(this.connection, request, options);
  }

  /** Follows a growing file. See `FileTail`. */
  tail(request: Omit<TailRequest, 'op'>, options: CallOptions): Promise<FileTail> {
    return FileTail.start(this.connection, request, options);
  }

  stat(path: string, options: CallOptions): Promise<FileStat> {
    return this.connection.call({ op: 'stat', path }, parseStat, options);
  }

  list(request: Omit<ListRequest, 'op'>, options: CallOptions): Promise<FileList> {
    return this.connection.call({ op: 'list', ...request }, parseList, options);
  }

  remove(request: Omit<RemoveRequest, 'op'>, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'remove', ...request }, parseOk, options);
  }

  metrics(options: CallOptions): Promise<GuestMetrics> {
    return this.connection.call({ op: 'metrics' }, parseMetrics, options);
  }

  /** Sets the guest clock to `setToMs` since the Unix epoch. */
  clock(setToMs: number, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'clock', setToMs }, parseOk, options);
  }

  /** The beats of the guest; `deadlineMs` is the longest silence. See `watch`. */
  watch(options: CallOptions): AsyncGenerator<Beat, void, undefined> {
    return watch(this.connection, options);
  }

  /** Asks the guest's init to stop the system. Resolves when it was asked, not when it is done. */
  shutdown(mode: ShutdownMode, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'shutdown', mode }, parseOk, options);
  }

  /**
   * Gives a clone a clock, names and random numbers of its own; its answer proves, with a fresh nonce, that it runs.
   * `nowMs` is asked when the guest can take the request, however long that took. Rejects with `AGENT_NONCE_MISMATCH`
   * when it answers somebody else's question.
   */
  async rebirth(
    identity: Omit<RebirthRequest, 'op' | 'nonce' | 'setToMs'> & { readonly nowMs: () => number },
    options: CallOptions,
  ): Promise<Pong> {
    const { nowMs, ...names } = identity;
    const nonce = randomUUID();
    const make = (): RebirthRequest => ({ op: 'rebirth', nonce, setToMs: nowMs(), ...names });
    const pong = await this.connection.call({ op: 'rebirth', make }, parsePong, options);
    if (pong.nonce !== nonce) throw linkError('AGENT_NONCE_MISMATCH', 'the guest agent answered with another nonce');
    return pong;
  }

  /** Opens the guest's ends of ways out; whether both ends are up then is in the answer to a ping. */
  offer(ways: Omit<OfferRequest, 'op'>, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'offer', ...ways }, parseOk, options);
  }

  /** Mounts a directory that the host shares, read-only. Rejects with `OP_FAILED` for a tag that the machine does not have. */
  mount(request: Omit<MountRequest, 'op'>, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'mount', ...request }, parseOk, options);
  }

  /** Resolves when another system answered on the guest's network. Rejects with `PEER_UNREACHABLE` when it did not in time. */
  reach(request: Omit<ReachRequest, 'op'>, options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'reach', ...request }, parseOk, options);
  }

  /** Writes everything to the guest's disk. */
  quiesce(options: CallOptions): Promise<void> {
    return this.connection.call({ op: 'quiesce' }, parseOk, options);
  }
}
