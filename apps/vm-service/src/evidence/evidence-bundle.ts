import { appendFile, mkdir, open, readFile, rename, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { EVIDENCE_CHUNK_BYTES, type EvidenceFileName, type EvidenceView } from '@inquest/contracts-vm';
import { KeyedQueue } from '@inquest/kernel';
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

/** Part of a file, as it travels. */
export type EvidencePart = Pick<EvidenceView, 'text' | 'nextOffset' | 'sizeBytes'>;

/** What `probes.jsonl` may grow to. A machine that lives for months must not fill the disk with its heartbeats. */
const MAX_PROBES = 20_000;

/** The files that a verdict is drawn from, in no particular order. */
const EVIDENCE_FILES = Object.values(BUNDLE_FILES).filter(
  (file): file is EvidenceFile => file !== BUNDLE_FILES.verdict,
);

/**
 * The part of one incarnation's evidence that vm-service writes: host actions, probes, the facts about the incarnation
 * and the verdict. The driver writes the events and the console into the same directory.
 */
export class EvidenceBundle {
  private readonly writes = new KeyedQueue();
  private probes = 0;

  constructor(readonly directory: string) {}

  /** Durable before it resolves: an action is on record before it is taken. */
  recordAction(action: Omit<ActionRecord, 'atMs'>): Promise<void> {
    return this.append(BUNDLE_FILES.actions, encodeAction({ atMs: Date.now(), ...action }), true);
  }

  /** Records what was seen. Beyond `MAX_PROBES` further probes are left out. */
  async recordProbe(probe: ProbeRecord): Promise<void> {
    if (++this.probes > MAX_PROBES) return;
    await this.append(BUNDLE_FILES.probes, encodeProbe(probe), false);
  }

  /** The verdict as the evidence stands now. Stores nothing. */
  async verdictAsOf(meta: EvidenceMeta): Promise<Verdict> {
    return drawVerdict(parseEvidence({ ...(await this.files()), [BUNDLE_FILES.meta]: Buffer.from(encodeMeta(meta)) }));
  }

  /** Closes the evidence with `meta` and stores the verdict drawn from the files as they are on disk. */
  async conclude(meta: EvidenceMeta): Promise<Verdict> {
    await this.replace(BUNDLE_FILES.meta, encodeMeta(meta));
    const verdict = await this.recompute();
    await this.replace(BUNDLE_FILES.verdict, encodeVerdict(verdict));
    return verdict;
  }

  /** The verdict of a concluded incarnation, drawn anew from its files. Throws `EVIDENCE_META_MISSING` while it is open. */
  async recompute(): Promise<Verdict> {
    return drawVerdict(parseEvidence(await this.files()));
  }

  /**
   * At most `EVIDENCE_CHUNK_BYTES` of a file from a byte offset on. A character that is cut by the end of the part is
   * left to the next one, so that parts put together are the text of the whole.
   */
  async readPart(file: EvidenceFileName, fromOffset: number): Promise<EvidencePart> {
    const handle = await openOrNull(path.join(this.directory, file));
    if (handle === null) return { text: '', nextOffset: fromOffset, sizeBytes: 0 };
    try {
      const { size: sizeBytes } = await handle.stat();
      const { bytesRead, buffer } = await handle.read(
        Buffer.alloc(EVIDENCE_CHUNK_BYTES),
        0,
        EVIDENCE_CHUNK_BYTES,
        fromOffset,
      );
      const bytes = buffer.subarray(0, bytesRead);
      const isLast = fromOffset + bytesRead >= sizeBytes;
      const whole = isLast ? bytes : bytes.subarray(0, wholeCharacters(bytes));
      return { text: whole.toString('utf8'), nextOffset: fromOffset + whole.length, sizeBytes };
    } finally {
      await handle.close();
    }
  }

  private async files(): Promise<Partial<Record<EvidenceFile, Uint8Array>>> {
    const read = await Promise.all(
      EVIDENCE_FILES.map(async (file) => [file, await readOrNull(path.join(this.directory, file))] as const),
    );
    return Object.fromEntries(read.filter(([, content]) => content !== null));
  }

  private append(file: EvidenceFile, line: string, isDurable: boolean): Promise<void> {
    return this.writes.run(file, async () => {
      await mkdir(this.directory, { recursive: true, mode: 0o700 });
      await appendFile(path.join(this.directory, file), line, { flush: isDurable });
    });
  }

  /** Whole or not at all: a verdict is never read half written. */
  private async replace(file: string, content: string): Promise<void> {
    const target = path.join(this.directory, file);
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await writeFile(`${target}.new`, content, { flush: true });
    await rename(`${target}.new`, target);
  }
}

/** UTF-8 (RFC 3629): a continuation byte is 10xxxxxx, and a character has at most three of them. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
const MAX_CONTINUATIONS = 3;

/** How many of the bytes are whole characters. Never less than one byte of a text that is no UTF-8. */
function wholeCharacters(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > 0 && bytes.length - start <= MAX_CONTINUATIONS && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  const isCut = start > 0 && start + length > bytes.length;
  return isCut ? start : bytes.length;
}

async function openOrNull(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, 'r');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw e;
  }
}

async function readOrNull(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw e;
  }
}
