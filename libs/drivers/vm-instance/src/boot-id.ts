import { readFile } from 'node:fs/promises';

/** The host's boot id: pids, and what was found out about the host, hold until it changes. */
export const bootId = async (): Promise<string> => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
