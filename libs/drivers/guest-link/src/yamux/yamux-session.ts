import { type Duplex } from 'node:stream';
import { isDomainError, kernelError, withDeadline } from '@inquest/kernel';
import { linkError } from '../errors';
import {
  encodeHeader,
  FLAG,
  FRAME_TYPE,
  GO_AWAY,
  INITIAL_WINDOW_BYTES,
  type FrameType,
  type YamuxHeader,
} from './header';
import { YamuxParser } from './header-parser';
import { OpenGate } from './open-gate';
import { SendScheduler } from './send-scheduler';
import { YamuxStream } from './yamux-stream';

/** The client's streams have odd numbers, the server's even ones. */
export type YamuxRole = 'client' | 'server';

/** Streams that the peer may have open at once; further ones are reset. */
const MAX_INBOUND_STREAMS = 256;
/** Control headers (87 000 of them) that may wait for a peer that does not read. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** How long `close` waits for the last bytes to leave. A paused machine takes none. */
const CLOSE_GRACE_MS = 1000;

/**
 * One yamux session over a byte stream, which it owns. Sends no keep-alive (a paused machine must not lose its session) but
 * answers pings. Against a hostile peer it is bounded: one window for each stream, 256 streams opened by the peer.
 * The first violation ends the session.
 */
export class YamuxSession {
  /** Resolves once the session is over, with what ended it; null after `close` or an orderly end. Never rejects. */
  readonly closed: Promise<Error | null>;

  private readonly streams = new Map<number, YamuxStream>();
  private readonly gate = new OpenGate();
  private readonly scheduler: SendScheduler;
  private readonly parser = new YamuxParser({
    onHeader: (header) => this.receive(header),
    onPayload: (bytes) => this.receivePayload(bytes),
  });
  private resolveClosed: (reason: Error | null) => void = () => undefined;
  private nextStreamId: number;
  private inboundCount = 0;
  private payload: { readonly header: YamuxHeader; readonly stream: YamuxStream | null; missingBytes: number } | null =
    null;
  private isOver = false;

  /** `onStream` takes each stream that the peer opens; it must not throw. */
  constructor(
    private readonly transport: Duplex,
    private readonly role: YamuxRole,
    private readonly onStream: (stream: YamuxStream) => void,
  ) {
    this.nextStreamId = role === 'client' ? 1 : 2;
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    this.scheduler = new SendScheduler(transport);
    transport.on('data', (chunk: Buffer) => this.feed(chunk));
    transport.on('end', () => this.finish(null));
    transport.on('error', (e) => this.finish(e));
    transport.on('close', () => this.finish(null));
    if (transport.destroyed) this.finish(null);
    // A preamble leaves its transport paused.
    transport.resume();
  }

  /**
   * Opens a stream; it may be written to at once. Waits its turn when too many streams are open or unacknowledged. What
   * `first` then gives leaves together with the opening, as far as the transport and the window take it.
   * Rejects with `LINK_CLOSED`, `MUX_STREAMS_EXHAUSTED`, `OPERATION_ABORTED` when `signal` aborts, or what `first` throws;
   * then none was opened.
   */
  async open(signal: AbortSignal, first: () => readonly Uint8Array[] = () => []): Promise<YamuxStream> {
    if (signal.aborted)
      throw kernelError('OPERATION_ABORTED', 'cancelled before a stream was opened', {}, signal.reason);
    await this.gate.enter(signal);
    const id = this.nextStreamId;
    this.gate.started(id);
    if (this.isOver || id > MAX_STREAM_ID) {
      this.gate.leave(id);
      if (this.isOver) throw linkError('LINK_CLOSED', 'the link to the guest ended');
      throw linkError('MUX_STREAMS_EXHAUSTED', 'the session has no stream numbers left');
    }
    const pieces = this.firstPieces(id, first);
    this.nextStreamId += 2;
    const stream = new YamuxStream(id, this);
    this.streams.set(id, stream);
    this.transport.cork();
    this.sendWindowUpdate(id, FLAG.syn, 0);
    stream.cork();
    for (const piece of pieces) stream.write(piece);
    stream.uncork();
    this.transport.uncork();
    return stream;
  }

  /** Says goodbye and ends the transport; open streams fail with `LINK_CLOSED`. Idempotent, never rejects. */
  async close(): Promise<void> {
    if (!this.isOver) {
      const closed = linkError('LINK_CLOSED', 'the link was closed');
      this.gate.shut(closed);
      this.send(FRAME_TYPE.goAway, 0, 0, GO_AWAY.normal);
      for (const stream of this.streams.values()) stream.destroy(closed);
      const flushed = new Promise<void>((resolve) => this.transport.end(resolve));
      await withDeadline(flushed, CLOSE_GRACE_MS, 'the last bytes of the link').catch(() => undefined);
      this.finish(null);
    }
    await this.closed;
  }

  /** For the streams of this session. */
  sendWindowUpdate(streamId: number, flags: number, credit: number): void {
    this.send(FRAME_TYPE.windowUpdate, flags, streamId, credit);
  }

  /** For the streams of this session. */
  scheduleSend(stream: YamuxStream): void {
    if (!this.isOver) this.scheduler.add(stream);
  }

  /** For the streams of this session. */
  release(stream: YamuxStream): void {
    if (!this.streams.delete(stream.id)) return;
    this.scheduler.remove(stream);
    if (this.isOwn(stream.id)) this.gate.leave(stream.id);
    else this.inboundCount--;
  }

  private firstPieces(id: number, first: () => readonly Uint8Array[]): readonly Uint8Array[] {
    try {
      return first();
    } catch (e) {
      this.gate.leave(id);
      throw e;
    }
  }

  private feed(chunk: Buffer): void {
    if (this.isOver) return;
    try {
      this.parser.push(chunk);
    } catch (e) {
      this.send(FRAME_TYPE.goAway, 0, 0, isDomainError(e) ? GO_AWAY.protocolError : GO_AWAY.internalError);
      this.finish(e as Error);
    }
  }

  private receive(header: YamuxHeader): void {
    if (header.type === FRAME_TYPE.ping) return this.receivePing(header);
    if (header.type === FRAME_TYPE.goAway) return this.receiveGoAway(header);
    if ((header.flags & FLAG.syn) !== 0) this.acceptStream(header.streamId);
    if (this.isOwn(header.streamId)) this.gate.acknowledged(header.streamId);

    const stream = this.streams.get(header.streamId) ?? null;
    const isData = header.type === FRAME_TYPE.data;
    if (stream !== null) stream.receiveHeader(header, isData);
    else if (isData) assertDiscardable(header);
    if (isData && header.length > 0) this.payload = { header, stream, missingBytes: header.length };
    else this.finishFrame(header, stream);
  }

  private receivePayload(bytes: Buffer): void {
    const payload = this.payload as NonNullable<typeof this.payload>;
    payload.stream?.receivePayload(bytes);
    payload.missingBytes -= bytes.length;
    if (payload.missingBytes > 0) return;
    this.payload = null;
    this.finishFrame(payload.header, payload.stream);
  }

  private finishFrame({ flags }: YamuxHeader, stream: YamuxStream | null): void {
    if ((flags & FLAG.fin) !== 0 && stream !== null && !stream.destroyed) stream.receiveFinish();
  }

  private acceptStream(id: number): void {
    if (id === 0 || this.isOwn(id) || this.streams.has(id)) {
      throw linkError('MUX_FRAME_INVALID', `the peer opens stream ${id}, which is not its to open`);
    }
    if (this.inboundCount >= MAX_INBOUND_STREAMS) return this.sendWindowUpdate(id, FLAG.rst, 0);
    const stream = new YamuxStream(id, this);
    this.streams.set(id, stream);
    this.inboundCount++;
    this.sendWindowUpdate(id, FLAG.ack, 0);
    this.onStream(stream);
  }

  private receivePing({ flags, length }: YamuxHeader): void {
    if ((flags & FLAG.syn) !== 0) this.send(FRAME_TYPE.ping, FLAG.ack, 0, length);
  }

  private receiveGoAway({ length }: YamuxHeader): void {
    if (length === GO_AWAY.normal) return this.gate.shut(linkError('LINK_CLOSED', 'the peer accepts no more streams'));
    throw linkError('MUX_FRAME_INVALID', `the peer ended the session with code ${length}`);
  }

  private send(type: FrameType, flags: number, streamId: number, length: number): void {
    if (this.isOver || !this.transport.writable) return;
    this.transport.write(encodeHeader(type, flags, streamId, length));
    if (this.transport.writableLength > MAX_UNSENT_BYTES) {
      this.finish(
        linkError('MUX_BACKLOG_EXCEEDED', `${this.transport.writableLength} bytes wait for a peer that does not read`),
      );
    }
  }

  private finish(reason: Error | null): void {
    if (this.isOver) return;
    this.isOver = true;
    const lost = linkError('LINK_CLOSED', 'the link to the guest ended', {}, reason ?? undefined);
    this.gate.shut(lost);
    for (const stream of this.streams.values()) stream.failAfterReading(lost);
    this.transport.destroy();
    this.resolveClosed(reason);
  }

  private isOwn(id: number): boolean {
    return id % 2 === (this.role === 'client' ? 1 : 0);
  }
}

/** Stream numbers are uint32; hashicorp/yamux stops one pair earlier. */
const MAX_STREAM_ID = 0xffff_fffd;

/** Data of a stream that was reset here may still be under way, but never more than its window. */
function assertDiscardable({ streamId, length }: YamuxHeader): void {
  if (length > INITIAL_WINDOW_BYTES) {
    throw linkError('MUX_WINDOW_EXCEEDED', `the peer sends ${length} bytes on stream ${streamId}, which is not open`, {
      streamId,
    });
  }
}
