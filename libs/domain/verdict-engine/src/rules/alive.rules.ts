import { agentPortChange, answeredAfter, type CaseFacts } from '../facts/case-facts';
import { probesOf } from '../facts/host-facts';
import { lastEvent, resumedAfter, type QmpEvent, type QmpFacts } from '../facts/qmp-facts';
import type { CitedReport } from '../facts/serial-facts';
import { present, type Rule } from './rule';

/** Lockups that explain a silent guest, although they make the console grow. */
const LOCKUPS: readonly string[] = ['soft_lockup', 'hard_lockup', 'rcu_stall', 'hung_task', 'workqueue_lockup'];

/** RunState in qapi/run-state.json: stopped by the host, and resumable by it. */
const HOST_STOPPED: readonly string[] = [
  'paused',
  'prelaunch',
  'inmigrate',
  'postmigrate',
  'finish-migrate',
  'save-vm',
  'restore-vm',
  'debug',
  'colo',
];

/** QMP did not answer: the VMM itself is frozen. A guest that hangs leaves QMP answering. */
export const vmmFrozen: Rule = {
  name: 'vmm_frozen',
  find: ({ exit, status, firstSilence }) => {
    if (exit !== null || status === null || status.status !== null) return null;
    return {
      class: 'host_error',
      confidence: 'likely',
      account: 'The VMM process lives but does not answer QMP: it is frozen or starved on the host.',
      deciding: [status.citation],
      contributing: present(firstSilence?.citation),
      blame: 'host',
      ended: false,
      readsConsole: false,
    };
  },
};

/** QEMU cannot go on emulating (RunState `internal-error`). */
export const vmmInternalError: Rule = {
  name: 'vmm_internal_error',
  find: ({ exit, status }) => {
    if (exit !== null || status?.status !== 'internal-error') return null;
    return {
      class: 'host_error',
      confidence: 'certain',
      account: 'QEMU stopped the machine over an internal error.',
      deciding: [status.citation],
      blame: 'host',
      ended: true,
      readsConsole: false,
    };
  },
};

/** The guest went to sleep (ACPI S3) and has not been woken. */
export const guestSuspended: Rule = {
  name: 'guest_suspended',
  find: ({ exit, status, qmp }) => {
    if (exit !== null) return null;
    const event = lastEvent(qmp, 'SUSPEND') ?? lastEvent(qmp, 'SUSPEND_DISK');
    const asleep = event !== null && !resumedAfter(qmp, event) ? event : null;
    const suspended = status?.status === 'suspended' ? status : null;
    if (suspended === null && (asleep === null || (status !== null && status.atMs > asleep.atMs))) return null;
    return {
      class: 'suspended',
      confidence: 'certain',
      account: 'The guest suspended itself and waits to be woken.',
      deciding: present(asleep?.citation, suspended?.citation),
      blame: 'guest',
      ended: false,
      readsConsole: false,
    };
  },
};

/** The last STOP, unless the guest was let run again. */
function standingStop(qmp: QmpFacts): QmpEvent | null {
  const stop = lastEvent(qmp, 'STOP');
  return stop === null || resumedAfter(qmp, stop) ? null : stop;
}

/** Stopped by the host: neither ended nor hung. */
export const stoppedByHost: Rule = {
  name: 'stopped_by_host',
  find: ({ exit, status, shutdown, qmp, actions }) => {
    const stop = standingStop(qmp);
    const stopped = status === null ? stop !== null : status.status !== null && HOST_STOPPED.includes(status.status);
    if (exit !== null || shutdown !== null || !stopped) return null;
    const pause = actions.records.findLast(({ action }) => action === 'pause');
    return {
      class: 'still_running',
      confidence: status === null ? 'likely' : 'certain',
      account: `The machine has not ended: the host has stopped it (${status?.status ?? 'paused'}).`,
      deciding: present(status?.citation ?? stop?.citation),
      contributing: present(pause?.citation, status === null ? null : stop?.citation),
      blame: 'none',
      ended: false,
      readsConsole: false,
    };
  },
};

/** True when the console grew after the agent had fallen silent; null when nobody measured it. */
function grewInSilence({ probes, firstSilence, serial }: CaseFacts): boolean | null {
  if (firstSilence === null) return null;
  const before = probesOf(probes, 'serial').findLast((probe) => probe.atMs <= firstSilence.atMs);
  return before === undefined ? null : serial.totalBytes > before.totalBytes;
}

const silence = ({ lastPong }: CaseFacts): string => (lastPong === null ? 'never answered' : 'did not answer');

const lockup = ({ serial }: CaseFacts): CitedReport | null =>
  serial.reports.findLast((report) => LOCKUPS.includes(report.class) && report.boot >= serial.boots) ?? null;

/** The agent is silent and the kernel says why: it is locked up. */
export const hungByLockup: Rule = {
  name: 'hung_by_lockup',
  find: (facts) => {
    const { exit, firstSilence } = facts;
    const report = lockup(facts);
    if (exit !== null || firstSilence === null || report === null) return null;
    return {
      class: 'hung',
      confidence: 'likely',
      account: `The guest hangs (${report.title}): the agent did not answer within ${firstSilence.deadlineMs} ms.`,
      deciding: [firstSilence.citation, report.citation],
      contributing: present(facts.status?.citation),
      blame: 'guest',
      ended: false,
      readsConsole: true,
    };
  },
};

/** The guest's kernel closed the agent's port, or goes on printing while the agent is silent. */
export const agentLost: Rule = {
  name: 'agent_lost',
  find: (facts) => {
    const { exit, probes, firstSilence } = facts;
    if (exit !== null) return null;
    const port = agentPortChange(facts);
    const closedPort = port !== null && port.data['open'] === false && !answeredAfter(facts, port.atMs) ? port : null;
    const link = probesOf(probes, 'link').at(-1);
    const closedLink = link !== undefined && !link.open && !answeredAfter(facts, link.atMs) ? link : null;
    const grew = grewInSilence(facts) === true;
    if (closedPort === null && closedLink === null && !grew) return null;
    return {
      class: 'agent_lost',
      confidence: closedPort !== null && firstSilence !== null ? 'certain' : 'likely',
      account:
        closedPort !== null || closedLink !== null
          ? 'The guest agent is gone: its end of the link closed while the machine runs on.'
          : `The guest agent ${silence(facts)} although the guest goes on printing to its console.`,
      deciding: present(closedPort?.citation, closedLink?.citation, grew ? firstSilence?.citation : null),
      contributing: present(firstSilence?.citation, facts.status?.citation, facts.serial.lastLine),
      blame: 'guest',
      ended: false,
      readsConsole: grew,
    };
  },
};

/** Silent on the link past the deadline, and on the console. */
export const hung: Rule = {
  name: 'hung',
  find: (facts) => {
    const { exit, firstSilence, status } = facts;
    if (exit !== null || firstSilence === null) return null;
    const measured = grewInSilence(facts) === false;
    return {
      class: 'hung',
      confidence: measured && status?.status === 'running' ? 'likely' : 'weak',
      account: `The guest hangs: the agent ${silence(facts)} within ${firstSilence.deadlineMs} ms and the console is silent.`,
      deciding: [firstSilence.citation],
      contributing: present(status?.citation, facts.serial.lastLine),
      blame: 'guest',
      ended: false,
      readsConsole: true,
    };
  },
};

/** What a machine that still runs has been through, and what an operator may want to know of it. */
function survived({ qmp, serial }: CaseFacts) {
  return present(
    lastEvent(qmp, 'RESET')?.citation,
    lastEvent(qmp, 'BLOCK_IO_ERROR')?.citation,
    lastEvent(qmp, 'WATCHDOG')?.citation,
    lastEvent(qmp, 'POWERDOWN')?.citation,
    serial.reports.at(-1)?.citation,
    serial.lastLine,
  );
}

/** Nothing speaks against it: the machine lives. */
export const stillRunning: Rule = {
  name: 'still_running',
  find: (facts) => {
    const { exit, lastPong, status, shutdown } = facts;
    if (exit !== null || shutdown !== null) return null;
    const seen = lastPong !== null ? 'the agent answers' : 'the VMM process lives; the agent was not asked';
    return {
      class: 'still_running',
      confidence: lastPong !== null ? 'certain' : status?.status === 'running' ? 'likely' : 'weak',
      account: `The machine has not ended: ${seen}.`,
      deciding: present(lastPong?.citation, lastPong === null ? status?.citation : null),
      contributing: survived(facts),
      blame: 'none',
      ended: false,
      readsConsole: false,
    };
  },
};
