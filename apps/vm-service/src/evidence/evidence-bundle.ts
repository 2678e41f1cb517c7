import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import type { EvidenceFileName } from '@inquest/contracts-vm';
import { KeyedQueue, withDeadline } from '@inquest/kernel';
import {
  BUNDLE_FILES,
  drawVerdict,
  encodeAction,
  encodeMeta,
  encodeProbe,
  encodeVerdict,
  parseEvidence,
  type ActionRecord,
  type EvidenceFile,
  type EvidenceMeta,
  type ProbeRecord,
  type Verdict,
} from '@inquest/verdict-engine';
import { readFileOrNull, readTextPart, type TextPart } from './evidence-file';

/** What `probes.jsonl` may grow to. A machine that lives for months must not fill the disk with its heartbeats. */
const MAX_PROBES = 20_000;
/** One line on a slow disk. A disk that hangs longer must not keep a machine alive. */
const WRITE_TIMEOUT_MS = 5_000;

/** The files that a verdict is drawn from, in no particular order. */
const EVIDENCE_FILES = Object.values(BUNDLE_FILES).filter(
  (file): file is EvidenceFile => file !== BUNDLE_FILES.verdict,
);

/** How an incarnation ended. */
export interface Conclusion {
  readonly verdict: Verdict;
  /** False when the disk did not take it: then the verdict is from what could be read, and in no file. */
  readonly isStored: boolean;
}

/**
 * The part of one incarnation's evidence that vm-service writes: host actions, probes, the facts about the incarnation
 * and the verdict. The driver writes the events and the console into the same directory.
 */
export class EvidenceBundle {
  private readonly log = new Logger(EvidenceBundle.name);
  private readonly writes = new KeyedQueue();
  private readonly lost = new Set<string>();
  private probes = 0;
  private isClosed = false;

  constructor(readonly directory: string) {}

  /** What is missing because the disk did not take it, for people; null when nothing is. */
  get gap(): string | null {
    return this.lost.size === 0 ? null : `could not be written: ${[...this.lost].join(', ')}`;
  }

  /**
   * Durable before it resolves: an action is on record before it is taken. Never rejects: a full disk must not keep a
   * machine alive, whose removal is what frees it. What could not be written is in `gap`.
   */
  recordAction(action: Omit<ActionRecord, 'atMs'>): Promise<void> {
    const line = encodeAction({ atMs: Date.now(), ...action });
    return this.append(BUNDLE_FILES.actions, line, { what: `the ${action.action} by ${action.by}`, isDurable: true });
  }

  /** Records what was seen; beyond `MAX_PROBES` no more. Never rejects: see `gap`. */
  async recordProbe(probe: ProbeRecord): Promise<void> {
    if (++this.probes > MAX_PROBES) return;
    await this.append(BUNDLE_FILES.probes, encodeProbe(probe), { what: 'probes', isDurable: false });
  }

  /** The verdict as the evidence stands now. Stores nothing. */
  async verdictAsOf(meta: EvidenceMeta): Promise<Verdict> {
    return drawVerdict(parseEvidence({ ...(await this.files()), [BUNDLE_FILES.meta]: Buffer.from(encodeMeta(meta)) }));
  }

  /**
   * Closes the evidence with `meta` and stores the verdict drawn from the files as they are on disk. Never rejects:
   * where files cannot be written or read, the verdict rests on what is left, and its warnings say so. What is recorded
   * later is left out, so that the verdict can be drawn again from the same files.
   */
  async conclude(meta: EvidenceMeta): Promise<Conclusion> {
    this.isClosed = true;
    try {
      const written = Promise.all([BUNDLE_FILES.actions, BUNDLE_FILES.probes].map((file) => this.writes.idle(file)));
      await withDeadline(written, WRITE_TIMEOUT_MS, 'the last lines of the evidence');
      await this.replace(BUNDLE_FILES.meta, encodeMeta(meta));
      const verdict = await this.recompute();
      await this.replace(BUNDLE_FILES.verdict, encodeVerdict(verdict));
      return { verdict, isStored: true };
    } catch (e) {
      this.log.error(`the evidence in ${this.directory} could not be closed`, e);
      return { verdict: await this.verdictWithoutDisk(meta), isStored: false };
    }
  }

  /** The verdict of a concluded incarnation, drawn anew from its files. Throws `EVIDENCE_META_MISSING` while it is open. */
  async recompute(): Promise<Verdict> {
    return drawVerdict(parseEvidence(await this.files()));
  }

  /** Part of one of the files as text; see `readTextPart`. */
  readPart(file: EvidenceFileName, fromOffset: number): Promise<TextPart> {
    return readTextPart(path.join(this.directory, file), fromOffset);
  }

  private async verdictWithoutDisk(meta: EvidenceMeta): Promise<Verdict> {
    const recorder = {
      ...meta.recorder,
      lost: true,
      note: 'the evidence could not be closed: see the log of vm-service',
    };
    const told = { ...meta, recorder };
    return this.verdictAsOf(told).catch(() =>
      drawVerdict(parseEvidence({ [BUNDLE_FILES.meta]: Buffer.from(encodeMeta(told)) })),
    );
  }

  private async files(): Promise<Partial<Record<EvidenceFile, Uint8Array>>> {
    const read = await Promise.all(
      EVIDENCE_FILES.map(async (file) => [file, await readFileOrNull(path.join(this.directory, file))] as const),
    );
    return Object.fromEntries(read.filter(([, content]) => content !== null));
  }

  private async append(
    file: EvidenceFile,
    line: string,
    { what, isDurable }: { readonly what: string; readonly isDurable: boolean },
  ): Promise<void> {
    if (this.isClosed) return;
    const written = this.writes.run(file, async () => {
      await mkdir(this.directory, { recursive: true, mode: 0o700 });
      await appendFile(path.join(this.directory, file), line, { flush: isDurable });
    });
    try {
      await withDeadline(written, WRITE_TIMEOUT_MS, `writing ${file}`);
    } catch (e) {
      // Said once per kind of loss: a full disk fails every heartbeat.
      if (!this.lost.has(what)) this.log.error(`${what}: ${file} in ${this.directory} cannot be written`, e);
      this.lost.add(what);
    }
  }

  /** Whole or not at all: a verdict is never read half written. */
  private async replace(file: string, content: string): Promise<void> {
    const target = path.join(this.directory, file);
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await writeFile(`${target}.new`, content, { flush: true });
    await rename(`${target}.new`, target);
  }
}
