import type { CaseFacts } from '../facts/case-facts';
import { probesOf } from '../facts/host-facts';
import { dataString, lastEvent, resumedAfter, type QmpEvent } from '../facts/qmp-facts';
import { present, type Rule } from './rule';

/** An empty CD-ROM or floppy drive reports this on every reset; no data is involved. */
const NO_MEDIUM = 'No medium found';

/** The last error of the host's storage with that consequence (qapi/block-core.json, BlockErrorAction). */
function blockError({ qmp }: CaseFacts, action: 'stop' | 'report'): QmpEvent | null {
  return lastEvent(
    qmp,
    'BLOCK_IO_ERROR',
    (event) => dataString(event, 'action') === action && dataString(event, 'reason') !== NO_MEDIUM,
  );
}

function diskFull({ probes }: CaseFacts) {
  return probesOf(probes, 'host').findLast((probe) => probe.fact === 'disk_full') ?? null;
}

const NO_SPACE = 'No space left on device';

function why(facts: CaseFacts, event: QmpEvent | null): string {
  const full = event?.data['nospace'] === true || (event !== null && dataString(event, 'reason') === NO_SPACE);
  return full || diskFull(facts) !== null ? "the host's disk is full" : "the host's storage failed";
}

/** QEMU stopped the machine because the host could not write. Once there is room it can go on and nothing is lost. */
export const stoppedByStorage: Rule = {
  name: 'stopped_by_storage',
  find: (facts) => {
    const { exit, status, qmp, shutdown } = facts;
    const event = blockError(facts, 'stop');
    const stopped = exit === null && status?.status === 'io-error' ? status : null;
    const standing = event !== null && !resumedAfter(qmp, event) && (shutdown === null || shutdown.atMs < event.atMs);
    if (stopped === null && !standing) return null;
    return {
      class: 'io_error',
      confidence: 'certain',
      account: `QEMU stopped the machine at a write: ${why(facts, event)}.`,
      deciding: present(standing ? event.citation : null, stopped?.citation),
      contributing: present(diskFull(facts)?.citation, lastEvent(qmp, 'STOP')?.citation),
      blame: 'host',
      // Out of the guest's hands, yet resumable while the VMM lives.
      ended: exit !== null,
      readsConsole: false,
    };
  },
};

/** The error was handed to the guest, which runs on with data lost. */
export const storageErrorReported: Rule = {
  name: 'storage_error_reported',
  find: (facts) => {
    const event = blockError(facts, 'report');
    if (event === null || facts.exit !== null || facts.shutdown !== null) return null;
    const seen = facts.serial.reports.find(({ class: c }) => c === 'block_error' || c === 'filesystem_error');
    return {
      class: 'io_error',
      confidence: seen === undefined ? 'likely' : 'certain',
      account: `The guest runs on, but lost writes: ${why(facts, event)} and the error was passed on to it.`,
      deciding: present(event.citation),
      contributing: present(seen?.citation, diskFull(facts)?.citation),
      blame: 'host',
      ended: false,
      readsConsole: false,
    };
  },
};
