import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { GuestAgentClient } from '@inquest/guest-link';
import { BUNDLE_FILES } from '@inquest/verdict-engine';
import type { VmHandle } from '../vm-handle';
import type { VmDriverHarness } from './vm-driver-harness';

const CALL_MS = 30_000;

/** A deadline for one call that does not wait for a guest. */
export const soon = (): AbortSignal => AbortSignal.timeout(CALL_MS);

/** Waits until the guest agent answers, and gives the host name that it answers with. */
export async function waitUntilUp({ guestUpMs }: VmDriverHarness, machine: VmHandle): Promise<string> {
  const agent = new GuestAgentClient(machine.link);
  const { hostname } = await agent.ping({ signal: AbortSignal.timeout(guestUpMs), deadlineMs: guestUpMs });
  return hostname;
}

/** The recorded events, as lines and as names. */
export async function readEvents(spec: {
  readonly evidenceDirectory: string;
}): Promise<{ readonly raw: string[]; readonly names: string[] }> {
  const text = await readFile(path.join(spec.evidenceDirectory, BUNDLE_FILES.events), 'utf8');
  const raw = text.split('\n').slice(0, -1);
  return { raw, names: raw.map((line) => (JSON.parse(line) as { event: string }).event) };
}
