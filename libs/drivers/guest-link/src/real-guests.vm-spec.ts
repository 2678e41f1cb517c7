import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GuestLink } from './guest-link';
import { HybridVsockLink } from './hybrid-vsock-link';
import { openSerialMuxLink } from './serial-mux-link';
import { describeGuestLink } from './testing/guest-link-conformance';
import { buildLinkPeer, LinkMachine, type LinkPeerFiles } from './testing/link-machine';
import { type LinkPair } from './testing/link-pair';
import { RelayedGuest } from './testing/relayed-guest';
import { requireVsockDevice } from './testing/vsock-device';

/** A guest is up in 3 s; the machine may be ten times slower. */
const guestUp = (): AbortSignal => AbortSignal.timeout(90_000);
const vsockDevice = requireVsockDevice('the guest link over AF_VSOCK with a real guest');

let directory: string;
let files: LinkPeerFiles;
/** One guest for all tests, until one of them kills it. */
let machine: LinkMachine | null = null;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'real-guest-'));
  files = await buildLinkPeer(directory);
});
afterAll(async () => {
  await machine?.end();
  await rm(directory, { recursive: true });
});

async function runningMachine(): Promise<LinkMachine> {
  if (machine?.isRunning === true) return machine;
  await machine?.end();
  machine = await LinkMachine.start(directory, files, vsockDevice.path);
  return machine;
}

async function makePair(open: (running: LinkMachine) => Promise<GuestLink>): Promise<LinkPair> {
  const running = await runningMachine();
  const host = await open(running);
  return { host, guest: await RelayedGuest.over(host, guestUp()), sever: () => running.sever() };
}

// The guest cannot end one direction of a stream: go-yamux-interop has what the host can.
const traits = { halfCloses: false };

describeGuestLink(
  'the serial mux of a real guest',
  () => makePair(({ muxSocket }) => openSerialMuxLink({ socketPath: muxSocket, signal: guestUp() })),
  traits,
);

(vsockDevice.path === null ? describe.skip : describe)('AF_VSOCK', () => {
  describeGuestLink(
    'the vsock of a real guest',
    () => makePair(async ({ vsockSocket }) => new HybridVsockLink(vsockSocket)),
    traits,
  );
});
