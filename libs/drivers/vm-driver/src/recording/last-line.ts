import type { FileHandle } from 'node:fs/promises';

const NEWLINE = 0x0a;

/** The last whole line of a file. */
export interface LastLine {
  /** Without its line end; null when there is none, or when it is longer than was read. */
  readonly line: string | null;
  /** Offset behind its line end. What follows is part of a line whose writing was cut. */
  readonly endsAt: number;
}

/** Reads `2 * lineMaxBytes` at most. A file without any line end there ends in a torn line at offset 0. */
export async function readLastLine(file: FileHandle, lineMaxBytes: number): Promise<LastLine> {
  const { size } = await file.stat();
  const from = Math.max(0, size - 2 * lineMaxBytes);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  const bytes = buffer.subarray(0, bytesRead);
  const end = bytes.lastIndexOf(NEWLINE);
  if (end === -1) return { line: null, endsAt: 0 };
  const start = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
  const isWhole = start !== -1 || from === 0;
  return { line: isWhole ? bytes.toString('utf8', start + 1, end) : null, endsAt: from + end + 1 };
}
