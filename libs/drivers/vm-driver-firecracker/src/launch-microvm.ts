import { writeFile } from 'node:fs/promises';
import { abortable, CleanupStack } from '@inquest/kernel';
import { HybridVsockLink } from '@inquest/guest-link';
import type { EvidenceRecorder, VmSpec } from '@inquest/vm-driver';
import { prepareInstance, recordOf, releaseAll, startError, writeInstanceRecord } from '@inquest/vm-instance';
import { ConsolePipe } from './console-pipe';
import { firecrackerConfiguration } from './firecracker-configuration';
import { firecrackerFile } from './firecracker-files';
import { FirecrackerMachine } from './firecracker-machine';
import type { CompiledFirecrackerOptions } from './firecracker-options';
import { FirecrackerProcess } from './firecracker-process';
import { LastWords } from './last-words';
import { MicrovmLink } from './microvm-link';
import { makeRootDisk, type RootDisk } from './root-disk';
import { socketAppears } from './socket-appearance';

/** One launch: what is wanted, on which terms, and what must be undone when it fails. */
interface Start {
  readonly spec: VmSpec;
  readonly options: CompiledFirecrackerOptions;
  /** Aborts with the caller, at the start's deadline, and when Firecracker ends. */
  readonly signal: AbortSignal;
  readonly cleanup: CleanupStack;
}

/** What is there before Firecracker runs. */
interface Prepared {
  readonly disk: RootDisk;
  readonly evidence: EvidenceRecorder;
  readonly vsock: HybridVsockLink;
  readonly console: ConsolePipe;
}

/** Promises and errors of `VmDriver.start`, for a checked specification. */
export async function launchMicrovm(
  spec: VmSpec,
  options: CompiledFirecrackerOptions,
  callerSignal: AbortSignal,
): Promise<FirecrackerMachine> {
  const cleanup = new CleanupStack();
  const deadline = AbortSignal.timeout(spec.limits.startTimeoutMs);
  const ended = new AbortController();
  let process: FirecrackerProcess | null = null;
  const signal = AbortSignal.any([callerSignal, deadline, ended.signal]);
  try {
    const start: Start = { spec, options, signal, cleanup };
    const prepared = await prepare(start);
    signal.throwIfAborted();
    process = await FirecrackerProcess.spawn(spec, options, prepared.disk.sizeBytes);
    void process.exited.then(() => ended.abort());
    return await attach(start, process, prepared);
  } catch (e) {
    const words = (await process?.stderrTail()) ?? '';
    await releaseAll(cleanup, spec);
    throw await startError(spec, e, { callerSignal, deadline, monitor: process, monitorName: 'Firecracker', words });
  }
}

/** Everything that has to be there before Firecracker runs. */
async function prepare({ spec, options, signal, cleanup }: Start): Promise<Prepared> {
  const { boot, disk, directory } = spec;
  const { monitorUser: user, memoryReserveMib } = options;
  const inputs = [boot.kernelPath, boot.initramfsPath, disk.basePath];
  const evidence = await prepareInstance({ spec, inputs, user, memoryReserveMib }, signal, cleanup);
  const rootDisk = await makeRootDisk(spec, options, signal);
  const configuration = JSON.stringify(firecrackerConfiguration(spec, rootDisk.path), null, 2);
  await writeFile(firecrackerFile(directory, 'configuration'), configuration, { mode: 0o444 });
  // Bound before the guest can ask: one that is refused once may never ask again.
  const vsock = new HybridVsockLink(firecrackerFile(directory, 'vsock'));
  cleanup.defer('guest link', () => vsock.close());
  for (const { port, handler } of spec.listeners) await abortable(vsock.listen(port, handler), signal, `port ${port}`);
  const console = await ConsolePipe.make(firecrackerFile(directory, 'console'), signal);
  cleanup.defer('serial console', () => console.stop());
  return { disk: rootDisk, evidence, vsock, console };
}

/**
 * Firecracker says nothing when the guest begins to run. It makes the vsock's socket after it has accepted its whole
 * configuration, milliseconds before; one that fails in between has ended, which its exit tells.
 */
async function attach(
  { spec, signal, cleanup }: Start,
  process: FirecrackerProcess,
  { evidence, vsock, console }: Prepared,
): Promise<FirecrackerMachine> {
  cleanup.defer('Firecracker', async () => void (await process.kill()));
  const lastWords = new LastWords();
  let onHalted: () => void = () => undefined;
  const closing = new AbortController();
  void process.exited.then(() => closing.abort());
  const hear = (chunk: Uint8Array): void => {
    if (lastWords.hear(chunk)) onHalted();
  };
  console.copyTo(evidence.serial, hear, closing.signal);
  await writeInstanceRecord(spec.directory, await recordOf(spec, [process.owned]));
  await socketAppears(firecrackerFile(spec.directory, 'vsock'), signal);
  signal.throwIfAborted();
  cleanup.disown();
  const link = new MicrovmLink(vsock);
  const machine = new FirecrackerMachine({ spec, process, evidence, vsock, link, consoleEnded: console.ended });
  onHalted = () => void machine.endIfHalted();
  if (lastWords.wereHeard) onHalted();
  return machine;
}
