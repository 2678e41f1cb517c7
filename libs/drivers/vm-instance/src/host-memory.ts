import { readFile } from 'node:fs/promises';
import { vmDriverError } from '@inquest/vm-driver';

/** `MemAvailable` of /proc/meminfo (proc(5)) in MiB, rounded down; null when the text has none. */
export function parseAvailableMib(meminfo: string): number | null {
  const kib = /^MemAvailable:\s+(\d{1,15}) kB$/m.exec(meminfo)?.[1];
  return kib === undefined ? null : Math.floor(Number(kib) / 1024);
}

/** Throws `VM_HOST_MEMORY_EXHAUSTED` when a guest of this size would eat into the host's reserve. */
export async function checkHostMemory(memoryMib: number, reserveMib: number): Promise<void> {
  const availableMib = parseAvailableMib(await readFile('/proc/meminfo', 'utf8'));
  // A kernel without MemAvailable gives no ground for a refusal.
  if (availableMib === null || memoryMib <= availableMib - reserveMib) return;
  throw vmDriverError(
    'VM_HOST_MEMORY_EXHAUSTED',
    `the machine wants ${memoryMib} MiB; the host has ${availableMib} MiB available and keeps ${reserveMib} MiB for itself`,
    { memoryMib, availableMib, reserveMib },
  );
}
