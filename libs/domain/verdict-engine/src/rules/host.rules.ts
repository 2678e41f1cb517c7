import { printable } from '../citation';
import { endingAction, type CaseFacts } from '../facts/case-facts';
import { citeMeta, probesOf } from '../facts/host-facts';
import { dataString } from '../facts/qmp-facts';
import type { Blame } from '../verdict';
import { present, type Finding, type Rule } from './rule';

/** Signals that somebody sends; every other one is the process's own fault. */
const SENT_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

/** How far an event's time and that of the action behind it may be apart, both being host time in ms. */
const ACTION_SLACK_MS = 1;

/** `kill` and `reap` are the platform's own doing; the other actions are asked for. */
const blameOf = (action: string): Blame => (action === 'kill' || action === 'reap' ? 'host' : 'caller');

/** Who ended the machine at `atMs`, by the platform's own record. */
function recordedEnd(facts: CaseFacts, atMs: number): Finding | null {
  const action = endingAction(facts, atMs + ACTION_SLACK_MS);
  if (action === null) return null;
  const reason = action.reason === '' ? '' : `, ${printable(action.reason, 120)}`;
  return {
    class: 'host_killed',
    confidence: 'certain',
    account: `The host ended the machine (${action.action} by ${printable(action.by, 80)}${reason}).`,
    deciding: [action.citation],
    contributing: present(facts.serial.lastLine),
    blame: blameOf(action.action),
    ended: true,
    readsConsole: false,
  };
}

/** Who QEMU says the signal came from: "terminating on signal 15 from pid 4711 (node)" (softmmu/runstate.c). */
function signalSender(stderrTail: string): string | null {
  const match = /terminating on signal (\d{1,3})(?: from pid (\d{1,10}) \(([^)\n]{0,64})\))?/.exec(stderrTail);
  if (match === null) return null;
  const [, signal, pid, name] = match;
  return pid === undefined ? `signal ${signal}` : `signal ${signal} from pid ${pid} (${printable(name ?? '', 64)})`;
}

/** SHUTDOWN with a host reason: guests cannot bring it about. */
export const hostShutDown: Rule = {
  name: 'host_shut_down',
  find: (facts) => {
    const { shutdown, evidence } = facts;
    if (shutdown === null) return null;
    const reason = dataString(shutdown, 'reason');
    if (shutdown.data['guest'] === true || !HOST_REASONS.includes(reason)) return null;
    const recorded = recordedEnd(facts, shutdown.atMs);
    if (recorded !== null) return { ...recorded, deciding: [shutdown.citation, ...recorded.deciding] };
    const sender = reason === 'host-signal' ? signalSender(evidence.meta.stderrTail) : null;
    return {
      class: 'host_killed',
      confidence: 'certain',
      account: `The host ended the machine (${sender ?? reason}); no action of the platform is on record.`,
      deciding: present(shutdown.citation, sender === null ? null : citeMeta(evidence, 'stderrTail')),
      contributing: present(facts.serial.lastLine),
      blame: 'host',
      ended: true,
      readsConsole: false,
    };
  },
};

/** ShutdownCause in qapi/run-state.json: the ones that a host's user brings about. */
const HOST_REASONS: readonly string[] = ['host-qmp-quit', 'host-qmp-system-reset', 'host-signal', 'host-ui'];

/** QEMU shut down over an error of its own. */
export const hostErrorShutdown: Rule = {
  name: 'host_error_shutdown',
  find: ({ shutdown, evidence }) => {
    if (shutdown === null || dataString(shutdown, 'reason') !== 'host-error') return null;
    return {
      class: 'host_error',
      confidence: 'certain',
      account: `QEMU shut down over a host error: ${printable(evidence.meta.stderrTail.trim(), 120) || 'it gave no text'}.`,
      deciding: [shutdown.citation],
      contributing: [citeMeta(evidence, 'stderrTail')],
      blame: 'host',
      ended: true,
      readsConsole: false,
    };
  },
};

/** A cgroup limit or the host's OOM killer sends SIGKILL without an event; only its counter tells. */
export const killedByHostOom: Rule = {
  name: 'killed_by_host_oom',
  find: (facts) => {
    const { exit, evidence, probes } = facts;
    if (exit?.signal !== 'SIGKILL') return null;
    const oom = probesOf(probes, 'host').find((probe) => probe.fact === 'oom_kill');
    const action = endingAction(facts, exit.atMs);
    if (oom === undefined || (action !== null && action.atMs < oom.atMs)) return null;
    return {
      class: 'host_error',
      confidence: 'certain',
      account: `The host's out-of-memory killer ended the VMM: ${printable(oom.detail, 120)}.`,
      deciding: [citeMeta(evidence, 'exit'), oom.citation],
      blame: 'host',
      ended: true,
      readsConsole: false,
    };
  },
};

/** The VMM ended after the platform had recorded that it would end it. */
export const endedByRecordedAction: Rule = {
  name: 'ended_by_recorded_action',
  find: (facts) => {
    const { exit, evidence } = facts;
    if (exit === null || !endedAsAsked(exit.code, exit.signal)) return null;
    const recorded = recordedEnd(facts, exit.atMs);
    return recorded === null ? null : { ...recorded, deciding: [...recorded.deciding, citeMeta(evidence, 'exit')] };
  },
};

/** A VMM that was asked to go exits with 0 or dies of the signal; one that died of SIGSEGV meanwhile crashed. */
const endedAsAsked = (code: number | null, signal: string | null): boolean =>
  signal === null ? code === 0 : SENT_SIGNALS.includes(signal);

/** A signal that somebody sent, but not the platform. */
export const killedByStranger: Rule = {
  name: 'killed_by_stranger',
  find: ({ exit, evidence, serial }) => {
    if (exit === null || exit.signal === null || !SENT_SIGNALS.includes(exit.signal)) return null;
    return {
      class: 'host_killed',
      confidence: 'likely',
      account: `Somebody on the host ended the VMM with ${exit.signal}; no action of the platform and no memory shortage is on record.`,
      deciding: [citeMeta(evidence, 'exit')],
      contributing: present(serial.lastLine),
      blame: 'host',
      ended: true,
      readsConsole: false,
    };
  },
};

/** The VMM died of its own fault: SIGSEGV, SIGABRT, SIGSYS of its sandbox, or an error status while the guest ran. */
export const vmmCrashed: Rule = {
  name: 'vmm_crashed',
  find: ({ exit, evidence, serial }) => {
    if (exit === null || (exit.signal === null && exit.code === 0)) return null;
    const how = exit.signal === null ? `with status ${exit.code ?? 'unknown'}` : `of ${printable(exit.signal, 20)}`;
    const said = printable(evidence.meta.stderrTail.trim(), 120);
    return {
      class: 'vmm_crashed',
      confidence: exit.signal === null ? 'likely' : 'certain',
      account: `The VMM process died ${how}${said === '' ? '.' : `: ${said}`}`,
      deciding: present(citeMeta(evidence, 'exit'), said === '' ? null : citeMeta(evidence, 'stderrTail')),
      contributing: present(serial.lastLine),
      blame: 'host',
      ended: true,
      readsConsole: false,
    };
  },
};
