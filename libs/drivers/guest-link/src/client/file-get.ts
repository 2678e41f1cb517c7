import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { parseGetEnd, parseOk, type GetEnd, type GetRequest } from '@inquest/frame-protocol';
import { linkError } from '../errors';
import { type AgentConnection } from './agent-connection';
import { CallDeadline, type CallOptions } from './call-deadline';
import { type FrameChannel } from './frame-channel';

/** What is being read from the guest. */
export interface GuestDownload {
  /**
   * The bytes. Ends only when size and sha256 are what the guest declared; otherwise fails, and what was read must not be
   * used. Destroying it ends the get in the guest.
   */
  readonly content: Readable;
  /** Settles when `content` ends or fails; an unwatched rejection is not an unhandled one. */
  readonly end: Promise<GetEnd>;
}

/**
 * Reads a file or a tree out of the guest, at most `maxBytes`. Resolves once the guest has begun; rejects with its `PATH_*`,
 * `LINK_CLOSED`, `AGENT_ANSWER_LATE` or `OPERATION_ABORTED`. `content` may fail with these, `TRANSFER_OVERSIZED` or
 * `TRANSFER_CORRUPTED`. The deadline runs anew for each piece that the reader asks for, and not while the reader pauses.
 */
export async function get(
  connection: AgentConnection,
  request: Omit<GetRequest, 'op'>,
  options: CallOptions & { readonly maxBytes: number },
): Promise<GuestDownload> {
  const { maxBytes, ...callOptions } = options;
  const deadline = new CallDeadline('get', callOptions);
  let channel: FrameChannel | null = null;
  try {
    channel = await connection.open({ op: 'get', ...request }, deadline);
    parseOk(await channel.nextControl());
    deadline.disarm();
    const content = new DownloadStream(channel, deadline, new VerifiedData(channel, maxBytes));
    return { content, end: content.verified };
  } catch (e) {
    deadline.clear();
    channel?.close();
    throw deadline.explain(e);
  }
}

class DownloadStream extends Readable {
  readonly verified: Promise<GetEnd>;
  private resolveVerified: (end: GetEnd) => void = () => undefined;
  private rejectVerified: (reason: unknown) => void = () => undefined;

  constructor(
    private readonly channel: FrameChannel,
    private readonly deadline: CallDeadline,
    private readonly data: VerifiedData,
  ) {
    super();
    this.verified = new Promise((resolve, reject) => {
      this.resolveVerified = resolve;
      this.rejectVerified = reject;
    });
    this.verified.catch(() => undefined);
    // The failure is in `verified` too, so a reader that has not begun must not end the process.
    this.on('error', () => undefined);
    deadline.whenEnded((reason) => void this.destroy(reason));
  }

  override _read(): void {
    void this.pull();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.deadline.clear();
    this.channel.close();
    this.rejectVerified(error ?? linkError('LINK_CLOSED', 'the get was abandoned before its end'));
    done(error);
  }

  private async pull(): Promise<void> {
    try {
      this.deadline.restart();
      const bytes = await this.data.next();
      this.deadline.disarm();
      if (this.data.end !== null) this.resolveVerified(this.data.end);
      this.push(bytes);
    } catch (e) {
      this.destroy(e as Error);
    }
  }
}

/** The data frames of a get, checked against what the guest declares at the end. */
class VerifiedData {
  /** What the guest declared; set once it proved true. */
  end: GetEnd | null = null;
  private readonly hash = createHash('sha256');
  private receivedBytes = 0;

  constructor(
    private readonly channel: FrameChannel,
    private readonly maxBytes: number,
  ) {}

  /** The next bytes; null when there are no more and all of them are what the guest declares. */
  async next(): Promise<Uint8Array | null> {
    const frame = await this.channel.next();
    if (frame.kind === 'data-from-guest') {
      this.count(frame.bytes);
      return frame.bytes;
    }
    if (frame.kind === 'end') {
      this.verify(parseGetEnd(await this.channel.nextControl()));
      return null;
    }
    // Of all control frames only an error may come here; the parser throws it.
    if (frame.kind === 'control') parseGetEnd(frame.body);
    throw this.channel.outOfOrder(frame);
  }

  private count(bytes: Uint8Array): void {
    this.receivedBytes += bytes.length;
    if (this.receivedBytes > this.maxBytes) {
      throw linkError('TRANSFER_OVERSIZED', `the guest sends more than ${this.maxBytes} bytes`, {
        maxBytes: this.maxBytes,
      });
    }
    this.hash.update(bytes);
  }

  private verify(declared: GetEnd): void {
    const sha256 = this.hash.digest('hex');
    if (declared.bytes !== this.receivedBytes || declared.sha256 !== sha256) {
      throw linkError(
        'TRANSFER_CORRUPTED',
        `${this.receivedBytes} bytes came, which are not those that the guest declares`,
        {
          receivedBytes: this.receivedBytes,
          declaredBytes: declared.bytes,
        },
      );
    }
    this.end = declared;
  }
}
