import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import type { VmHandle } from '../vm-handle';
import type { VmDriverHarness } from './vm-driver-harness';

const CALL_MS = 30_000;
/** One try: a guest may be emulated on a crowded host. */
const PING_MS = 20_000;

/** A deadline for one call that does not wait for a guest. */
export const soon = (): AbortSignal => AbortSignal.timeout(CALL_MS);

/**
 * Waits until the guest agent answers, and gives the host name that it answers with. Asks again, as everybody does: a
 * device that is a process of its own may lose what it is sent while the guest sets it up.
 */
export async function waitUntilUp({ guestUpMs }: VmDriverHarness, machine: VmHandle): Promise<string> {
  const agent = new GuestAgentClient(machine.link);
  const end = performance.now() + guestUpMs;
  for (;;) {
    const deadlineMs = Math.max(1, Math.min(PING_MS, Math.ceil(end - performance.now())));
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return (await agent.ping({ signal, deadlineMs })).hostname;
    } catch (e) {
      if (performance.now() >= end) throw e;
    }
  }
}

/** The recorded events, as lines and as names. */
export async function readEvents(spec: {
  readonly evidenceDirectory: string;
}): Promise<{ readonly raw: string[]; readonly names: string[] }> {
  const text = await readFile(path.join(spec.evidenceDirectory, BUNDLE_FILES.events), 'utf8');
  const raw = text.split('\n').slice(0, -1);
  return { raw, names: raw.map((line) => (JSON.parse(line) as { event: string }).event) };
}
