import type { ActionRecord, Evidence, EvidenceMeta, ProbeRecord } from '../evidence';
import { encodeAction, encodeProbe } from '../evidence-codec';

/** Start of every built incarnation, in ms since the Unix epoch; times given to the builder are ms after it. */
export const STARTED_AT_MS = 1_800_000_000_000;

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Builds evidence piece by piece, in the formats that the recorder writes. */
export class EvidenceBuilder {
  private readonly events: string[] = [];
  private readonly actions: string[] = [];
  private readonly probes: string[] = [];
  private console = '';
  private tail = '';
  private meta: EvidenceMeta = {
    formatVersion: 1,
    machineId: 'node1-m1',
    incarnation: 1,
    driver: 'qemu',
    startedAtMs: STARTED_AT_MS,
    observedAtMs: STARTED_AT_MS + 60_000,
    exit: null,
    stderrTail: '',
    serial: { totalBytes: 0, droppedBytes: 0 },
    recorder: { attachedBeforeBoot: true, lost: false, note: null },
  };

  /** A QMP event, as QEMU prints it. */
  event(atMs: number, event: string, data?: object): this {
    const at = STARTED_AT_MS + atMs;
    const timestamp = { seconds: Math.floor(at / 1000), microseconds: (at % 1000) * 1000 };
    return this.eventLine(JSON.stringify({ timestamp, event, ...(data === undefined ? {} : { data }) }));
  }

  /** A raw line of `events.jsonl`. */
  eventLine(line: string): this {
    this.events.push(`${line}\n`);
    return this;
  }

  action(atMs: number, action: ActionRecord['action'], by = 'person', reason = ''): this {
    this.actions.push(encodeAction({ atMs: STARTED_AT_MS + atMs, action, by, reason }));
    return this;
  }

  probe(atMs: number, probe: Without<ProbeRecord, 'atMs'>): this {
    this.probes.push(encodeProbe({ ...probe, atMs: STARTED_AT_MS + atMs }));
    return this;
  }

  /** A ping whose outcome was known at `atMs`: answered within 5 ms, or unanswered for 1 s. */
  ping(atMs: number, ok: boolean): this {
    return this.probe(atMs, { kind: 'ping', ok, latencyMs: ok ? 5 : 1000, deadlineMs: 1000 });
  }

  /** Notes how much is on the console so far. */
  serialProbe(atMs: number): this {
    return this.probe(atMs, { kind: 'serial', totalBytes: this.console.length });
  }

  /** Lines on the console, one byte per character. */
  serial(...lines: readonly string[]): this {
    this.console += lines.map((line) => `${line}\r\n`).join('');
    return this;
  }

  /** Lines after a gap of `droppedBytes`. */
  serialAfterGap(droppedBytes: number, ...lines: readonly string[]): this {
    this.tail += lines.map((line) => `${line}\r\n`).join('');
    return this.withMeta({ serial: { totalBytes: 0, droppedBytes } });
  }

  exit(atMs: number, code: number | null, signal: string | null = null, stderrTail = ''): this {
    return this.withMeta({ exit: { code, signal, atMs: STARTED_AT_MS + atMs }, stderrTail });
  }

  withMeta(meta: Partial<EvidenceMeta>): this {
    this.meta = { ...this.meta, ...meta };
    return this;
  }

  build(): Evidence {
    const { droppedBytes } = this.meta.serial;
    const totalBytes = this.console.length + this.tail.length + droppedBytes;
    return {
      meta: { ...this.meta, serial: { totalBytes, droppedBytes } },
      events: bytesOf(this.events.join('')),
      serialHead: latin1(this.console),
      serialTail: latin1(this.tail),
      actions: bytesOf(this.actions.join('')),
      probes: bytesOf(this.probes.join('')),
    };
  }
}

/** Text as UTF-8. */
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Text as Latin-1: one byte per character. */
export const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);

/** Console lines of a guest that came up: the banner and a few messages. */
export const BOOT_LINES: readonly string[] = [
  '[    0.000000] Linux version 6.1.0-57-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3',
  '[    0.000000] Command line: console=ttyS0 root=/dev/vda rw panic=1',
  '[    1.204500] virtio_blk virtio1: [vda] 4194304 512-byte logical blocks (2.15 GB/2.00 GiB)',
  '[    2.431000] EXT4-fs (vda): mounted filesystem with ordered data mode. Quota mode: none.',
];

/** A QEMU guest that booted and answered its first ping at 3 s. */
export function bootedGuest(): EvidenceBuilder {
  return new EvidenceBuilder()
    .event(50, 'RESUME')
    .serial(...BOOT_LINES)
    .event(2900, 'VSERPORT_CHANGE', { open: true, id: 'inquest.mux' })
    .serialProbe(2950)
    .ping(3000, true);
}
