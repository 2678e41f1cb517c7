import { open } from 'node:fs/promises';
import { abortable, CleanupStack } from '@inquest/kernel';
import { QmpClient } from '@inquest/qmp';
import {
  giveIdentity,
  instanceFile,
  vmDriverError,
  type EvidenceRecorder,
  type HostCheck,
  type VmSpec,
} from '@inquest/vm-driver';
import { prepareInstance, recordOf, releaseAll, startError, writeInstanceRecord } from '@inquest/vm-instance';
import { followConsole } from './console-file';
import { restoreDeviceState, type StateScope } from './device-state';
import { MachineLink } from './machine-link';
import { openMonitor } from './open-monitor';
import { qemuArguments, type MemoryFile } from './qemu-arguments';
import { QemuMachine } from './qemu-machine';
import type { CompiledQemuOptions } from './qemu-options';
import { QemuProcess } from './qemu-process';
import { writeSpecification } from './stored-specification';

const MIB = 1024 * 1024;

/** A machine to bring up: by booting it, or by continuing saved device state. */
export interface Launch {
  readonly spec: VmSpec;
  /** Files that QEMU's user must be able to read. */
  readonly inputs: readonly string[];
  /** The guest's memory when it is a file; null = none. */
  readonly memory: MemoryFile | null;
  /** Makes the disk, and what else the machine needs in its instance directory, which is there by then. */
  readonly makeFiles: (signal: AbortSignal) => Promise<void>;
  /** Device state that the guest continues from, as one identity of many; null = it boots. */
  readonly stateFile: string | null;
  /** What is in it. */
  readonly stateScope: StateScope;
}

/** One launch: what is wanted, on which terms, and what must be undone when it fails. */
interface Start extends Launch {
  readonly options: CompiledQemuOptions;
  readonly host: HostCheck;
  /** Aborts with the caller, at the start's deadline, and when QEMU ends. */
  readonly signal: AbortSignal;
  readonly cleanup: CleanupStack;
}

/** Promises and errors of `VmDriver.start` and, with a state file, of `TemplateDriver.clone`; for a checked specification. */
export async function launchMachine(
  launch: Launch,
  { options, host }: { readonly options: CompiledQemuOptions; readonly host: HostCheck },
  callerSignal: AbortSignal,
): Promise<QemuMachine> {
  const { spec } = launch;
  const cleanup = new CleanupStack();
  const deadline = AbortSignal.timeout(spec.limits.startTimeoutMs);
  const qemuEnded = new AbortController();
  let qemu: QemuProcess | null = null;
  const signal = AbortSignal.any([callerSignal, deadline, qemuEnded.signal]);
  try {
    const start: Start = { ...launch, options, host, signal, cleanup };
    const evidence = await prepare(start);
    qemu = await spawnQemu(start);
    void qemu.exited.then(() => qemuEnded.abort());
    return await attach(start, qemu, evidence);
  } catch (e) {
    await releaseAll(cleanup, spec);
    // Whole only now: what was in the pipe has been read when a killed QEMU is gone.
    const words = qemu?.stderrTail() ?? '';
    throw await startError(spec, e, { callerSignal, deadline, monitor: qemu, monitorName: 'QEMU', words });
  }
}

/** Everything that has to be there before QEMU runs. */
async function prepare({ spec, inputs, makeFiles, options, signal, cleanup }: Start): Promise<EvidenceRecorder> {
  const { qemuUser: user, memoryReserveMib } = options;
  const evidence = await prepareInstance({ spec, inputs, user, memoryReserveMib }, signal, cleanup);
  await Promise.all([makeFiles(signal), writeSpecification(spec)]);
  return evidence;
}

async function spawnQemu({ spec, memory, stateFile, options, host, signal, cleanup }: Start): Promise<QemuProcess> {
  if (host.accelerator === 'none') throw vmDriverError('VM_HOST_UNSUPPORTED', host.reason);
  signal.throwIfAborted();
  const { accelerator } = host;
  const { translationCacheMib } = options;
  const isRestored = stateFile !== null;
  const state = stateFile === null ? null : await open(stateFile, 'r');
  try {
    const qemu = await QemuProcess.spawn({
      binary: options.qemuBinary,
      args: qemuArguments(spec, { accelerator, translationCacheMib, memory, isRestored }),
      directory: spec.directory,
      user: options.qemuUser,
      fileBytes: fileBound(spec),
      stateFd: state?.fd ?? null,
    });
    cleanup.defer('QEMU', async () => void (await qemu.kill()));
    return qemu;
  } finally {
    await state?.close();
  }
}

/** The bound holds for every file that QEMU writes, and a memory file has the size of the memory. */
function fileBound({ limits, memoryMib, isCapturable }: VmSpec): number | null {
  const { overlayBytes } = limits;
  if (overlayBytes === null || isCapturable !== true) return overlayBytes;
  return Math.max(overlayBytes, memoryMib * MIB);
}

/** Connects to a QEMU that runs no guest yet, recorder first, then lets the guest run. */
async function attach(
  { spec, stateFile, stateScope, signal, cleanup }: Start,
  qemu: QemuProcess,
  evidence: EvidenceRecorder,
): Promise<QemuMachine> {
  // Its greeting says that all of QEMU's sockets are served and its main loop runs.
  const ready = await QmpClient.negotiate(qemu.ready, { signal, deadlineMs: spec.limits.startTimeoutMs });
  ready.close();
  // Beside what follows, which does not need it.
  const recorded = recordProcesses(spec, qemu);
  recorded.catch(() => undefined);

  const closing = new AbortController();
  void qemu.exited.then(() => closing.abort());
  const console = await followConsole(instanceFile(spec.directory, 'consoleLog'), evidence.serial, closing.signal);
  cleanup.defer('serial console', () => console.stop());

  const opening = (['recorderSocket', 'controlSocket'] as const).map(async (file) => {
    const monitor = await openMonitor(spec.directory, file, { signal });
    cleanup.defer(file, () => monitor.close());
    return monitor;
  });
  const [recorder, control] = (await Promise.all(opening)) as [QmpClient, QmpClient];
  recorder.onEvent((event) => evidence.events.append(event.raw));
  await recorded;

  const link = MachineLink.overSerialPort(instanceFile(spec.directory, 'muxSocket'));
  cleanup.defer('guest link', () => link.close());
  for (const { port, handler } of spec.listeners) await abortable(link.listen(port, handler), signal, `port ${port}`);

  if (stateFile !== null) await restoreDeviceState(control, stateScope, signal);
  await control.execute('cont', {}, { signal });
  if (stateFile !== null) await giveIdentity(link, spec, { signal, deadlineMs: spec.limits.startTimeoutMs });
  cleanup.disown();
  return new QemuMachine({ spec, process: qemu, evidence, recorder, control, consoleEnded: console.ended, link });
}

async function recordProcesses(spec: VmSpec, qemu: QemuProcess): Promise<void> {
  await writeInstanceRecord(spec.directory, await recordOf(spec, await qemu.findProcesses()));
}
