import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { parseGetEnd, parseOk, type GetEnd, type GetRequest } from '@inquest/frame-protocol';
import { linkError } from '../errors';
import { CallDeadline, type AgentConnection, type CallOptions } from './agent-connection';
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
 * `TRANSFER_CORRUPTED`. The deadline runs anew with each frame, and not while the reader pauses.
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
    return startDownload(new VerifiedData(channel, deadline, maxBytes), deadline);
  } catch (e) {
    deadline.clear();
    channel?.close();
    throw deadline.explain(e);
  }
}

function startDownload(data: VerifiedData, deadline: CallDeadline): GuestDownload {
  const content = Readable.from(data.read(), { objectMode: false });
  deadline.whenEnded((reason) => void content.destroy(reason));
  const end = new Promise<GetEnd>((resolve, reject) => {
    content.once('error', reject);
    content.once('close', () => {
      data.close();
      if (data.end !== null) resolve(data.end);
      else reject(linkError('LINK_CLOSED', 'the get was abandoned before its end'));
    });
  });
  end.catch(() => undefined);
  return { content, end };
}

/** The data frames of a get, checked against what the guest declares at the end. */
class VerifiedData {
  /** What the guest declared; set once it proved true. */
  end: GetEnd | null = null;
  private readonly hash = createHash('sha256');
  private receivedBytes = 0;

  constructor(
    private readonly channel: FrameChannel,
    private readonly deadline: CallDeadline,
    private readonly maxBytes: number,
  ) {}

  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      this.deadline.restart();
      const frame = await this.channel.next();
      if (frame.kind === 'data-from-guest') {
        this.deadline.disarm();
        this.count(frame.bytes);
        yield frame.bytes;
      } else if (frame.kind === 'end') {
        this.verify(parseGetEnd(await this.channel.nextControl()));
        return;
      } else if (frame.kind === 'control') {
        // Only an error may come here: it is thrown by the parser, anything else is out of order.
        parseGetEnd(frame.body);
        throw this.channel.outOfOrder(frame);
      } else {
        throw this.channel.outOfOrder(frame);
      }
    }
  }

  close(): void {
    this.deadline.clear();
    this.channel.close();
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
