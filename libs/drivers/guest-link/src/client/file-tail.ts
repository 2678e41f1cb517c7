import { hasCode } from '@inquest/kernel';
import { parseTailEof, parseTailStart, type TailRequest } from '@inquest/frame-protocol';
import { type AgentConnection } from './agent-connection';
import { CallDeadline, type CallOptions } from './call-deadline';
import { type FrameChannel } from './frame-channel';

/**
 * Follows a growing file. Iterate it once. It ends when the guest says so (`idleMs`, `maxMs`), and also when the guest
 * goes away: `offset` then tells where a later tail continues.
 */
export class FileTail implements AsyncIterable<Uint8Array> {
  private position: number;

  private constructor(
    private readonly channel: FrameChannel,
    private readonly deadline: CallDeadline,
    startOffset: number,
  ) {
    this.position = startOffset;
  }

  /** Resolves once the guest has opened the file; rejects as `AgentConnection.call` does. */
  static async start(
    connection: AgentConnection,
    request: Omit<TailRequest, 'op'>,
    options: CallOptions,
  ): Promise<FileTail> {
    const deadline = new CallDeadline('tail', options);
    let channel: FrameChannel | null = null;
    try {
      channel = await connection.open({ op: 'tail', ...request }, deadline);
      const { offset } = parseTailStart(await channel.nextControl());
      // From here on silence is normal: the file does not grow.
      deadline.disarm();
      return new FileTail(channel, deadline, offset);
    } catch (e) {
      deadline.clear();
      channel?.close();
      throw deadline.explain(e);
    }
  }

  /** Where the next byte will be read. */
  get offset(): number {
    return this.position;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const frame = await this.channel.next();
        if (frame.kind === 'data-from-guest') {
          this.position += frame.bytes.length;
          yield frame.bytes;
        } else if (frame.kind === 'control') {
          this.position = parseTailEof(frame.body).offset;
          return;
        } else {
          throw this.channel.outOfOrder(frame);
        }
      }
    } catch (e) {
      const reason = this.deadline.explain(e);
      if (!hasCode(reason, 'LINK_CLOSED')) throw reason;
    } finally {
      this.deadline.clear();
      this.channel.close();
    }
  }
}
