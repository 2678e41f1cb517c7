import { parseBeat, type Beat } from '@inquest/frame-protocol';
import { type AgentConnection } from './agent-connection';
import { CallDeadline, type CallOptions } from './call-deadline';

/**
 * The beats of a guest: one at once, one on every change and every second. Throws `LINK_CLOSED` when the guest is gone,
 * `AGENT_ANSWER_LATE` when no beat comes for `deadlineMs`, `OPERATION_ABORTED` when the signal aborts. The time does not run
 * while the reader is busy. To stop while a beat is awaited, abort the signal. A paused machine sends no beats: end the
 * watch before pausing.
 */
export async function* watch(connection: AgentConnection, options: CallOptions): AsyncGenerator<Beat, void, undefined> {
  const deadline = new CallDeadline('watch', options);
  try {
    const channel = await connection.open({ op: 'watch' }, deadline);
    try {
      for (;;) {
        const beat = parseBeat(await channel.nextControl());
        deadline.disarm();
        yield beat;
        deadline.restart();
      }
    } finally {
      channel.close();
    }
  } catch (e) {
    throw deadline.explain(e);
  } finally {
    deadline.clear();
  }
}
