import { type Readable } from 'node:stream';
import { frameError, parsePutResult, type PutRequest, type PutResult } from '@inquest/frame-protocol';
import { type AgentConnection } from './agent-connection';
import { CallDeadline, type CallOptions } from './call-deadline';
import { type FrameChannel } from './frame-channel';

/**
 * Streams `source`, which it owns, into the guest; the deadline runs anew with each chunk that the guest takes. Rejects with
 * the guest's `PATH_*`, `TAR_*`, `DISK_FULL` or `EXEC_USER_UNKNOWN` as soon as it refuses, with the error of `source`,
 * `LINK_CLOSED`, `AGENT_ANSWER_LATE` or `OPERATION_ABORTED`. After a failure the guest may hold a part.
 */
export async function put(
  connection: AgentConnection,
  request: Omit<PutRequest, 'op'>,
  source: Readable,
  options: CallOptions,
): Promise<PutResult> {
  const deadline = new CallDeadline('put', options);
  let channel: FrameChannel | null = null;
  try {
    channel = await connection.open({ op: 'put', ...request }, deadline);
    const answer = channel.nextControl();
    // The guest may refuse at any time; then the rest is not sent.
    const outcome = await Promise.race([answer, sendAll(channel, source, deadline)]);
    const result = parsePutResult(await answer);
    if (outcome !== 'sent')
      throw frameError('FRAME_ORDER_INVALID', 'the guest confirmed a put before it had all the data');
    return result;
  } catch (e) {
    throw deadline.explain(e);
  } finally {
    deadline.clear();
    channel?.close();
    source.destroy();
  }
}

/** 'refused' when the guest takes no more: then its answer, or the lack of one, tells why. */
async function sendAll(channel: FrameChannel, source: Readable, deadline: CallDeadline): Promise<'sent' | 'refused'> {
  const isTaken = (sending: Promise<void>): Promise<boolean> =>
    sending.then(
      () => true,
      () => false,
    );
  for await (const chunk of source) {
    if (!(await isTaken(channel.sendData('data-to-guest', chunk as Uint8Array)))) return 'refused';
    deadline.restart();
  }
  return (await isTaken(channel.sendEnd())) ? 'sent' : 'refused';
}
