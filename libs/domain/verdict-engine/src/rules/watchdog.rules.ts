import type { CaseFacts } from '../facts/case-facts';
import { dataString, lastEvent, resumedAfter, type QmpEvent } from '../facts/qmp-facts';
import { present, type Rule } from './rule';

/** Watchdog actions (qapi/run-state.json, WatchdogAction) that take the machine away from its guest at once. */
const STOPPING_ACTIONS: readonly string[] = ['reset', 'poweroff', 'pause'];

/** The SHUTDOWN that a `reset` causes follows within microseconds; anything later is another story. */
const CAUSED_WITHIN_MS = 1000;

/** True when what happened after the event is no consequence of it: the guest lived on and ended otherwise. */
function superseded({ shutdown, exit, qmp }: CaseFacts, event: QmpEvent, stopping: boolean): boolean {
  if (stopping && resumedAfter(qmp, event)) return true;
  if (!stopping) return shutdown !== null || exit !== null;
  if (shutdown === null || shutdown.atMs < event.atMs) return false;
  const reason = dataString(shutdown, 'reason');
  return reason.startsWith('guest-') && shutdown.atMs - event.atMs > CAUSED_WITHIN_MS;
}

/** The guest stopped feeding its watchdog. With action `poweroff` no SHUTDOWN follows; with `none` the guest lives on. */
export const watchdogFired: Rule = {
  name: 'watchdog_fired',
  find: (facts) => {
    const event = lastEvent(facts.qmp, 'WATCHDOG');
    if (event === null) return null;
    const action = dataString(event, 'action');
    const stopping = STOPPING_ACTIONS.includes(action);
    if (superseded(facts, event, stopping)) return null;
    const ended = facts.exit !== null || facts.shutdown !== null || action === 'pause';
    return {
      class: 'watchdog_fired',
      confidence: 'certain',
      account: `The watchdog fired (action ${action === '' ? 'unknown' : action}): the guest had stopped feeding it${ended ? '.' : '; the machine runs on.'}`,
      deciding: [event.citation],
      contributing: present(facts.shutdown?.citation, facts.status?.citation),
      blame: 'guest',
      ended,
      readsConsole: false,
    };
  },
};

/** The event is missing, but QEMU says that the watchdog stopped the machine. */
export const watchdogStatus: Rule = {
  name: 'watchdog_status',
  find: ({ status, exit }) => {
    if (exit !== null || status?.status !== 'watchdog') return null;
    return {
      class: 'watchdog_fired',
      confidence: 'likely',
      account: 'QEMU says that the watchdog stopped the machine, though no event of it was recorded.',
      deciding: [status.citation],
      blame: 'guest',
      ended: true,
      readsConsole: false,
    };
  },
};
