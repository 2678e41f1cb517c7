import { open, rm } from 'node:fs/promises';
import { abortable, CleanupStack, isDomainError, kernelError } from '@inquest/kernel';
import { QmpClient } from '@inquest/qmp';
import {
  EvidenceRecorder,
  giveIdentity,
  instanceFile,
  vmDriverError,
  type HostCheck,
  type VmSpec,
} from '@inquest/vm-driver';
import { copyConsole } from './console-copy';
import { restoreDeviceState, type StateScope } from './device-state';
import { checkReadable } from './file-access';
import { checkHostMemory } from './host-memory';
import { claimInstanceDirectory, makeVmmDirectory } from './instance-directory';
import { recordOf, writeInstanceRecord } from './instance-record';
import { MachineLink } from './machine-link';
import { qemuArguments, type MemoryFile } from './qemu-arguments';
import { QemuMachine } from './qemu-machine';
import type { CompiledQemuOptions } from './qemu-options';
import { QemuProcess } from './qemu-process';
import { connectUnix } from './unix-connection';

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
    throw await startError(spec, e, { callerSignal, deadline, qemu });
  }
}

/** Everything that has to be there before QEMU runs. */
async function prepare({ spec, inputs, makeFiles, options, signal, cleanup }: Start): Promise<EvidenceRecorder> {
  await Promise.all([
    ...inputs.map((file) => checkReadable(file, options.qemuUser)),
    checkHostMemory(spec.memoryMib, options.memoryReserveMib),
  ]);
  signal.throwIfAborted();
  await claimInstanceDirectory(spec);
  cleanup.defer('instance directory', () => rm(spec.directory, { recursive: true, force: true }));
  await writeInstanceRecord(spec.directory, {
    machineId: spec.machineId,
    incarnation: spec.incarnation,
    process: null,
  });
  await makeVmmDirectory(spec.directory, options.qemuUser);
  const evidence = await EvidenceRecorder.create(spec.evidenceDirectory);
  cleanup.defer('evidence files', () => evidence.close());
  await makeFiles(signal);
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
    await writeInstanceRecord(spec.directory, await recordOf(spec, qemu.identity));
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

  const closing = new AbortController();
  void qemu.exited.then(() => closing.abort());
  const console = await copyConsole(instanceFile(spec.directory, 'serialSocket'), evidence.serial, {
    signal,
    closing: closing.signal,
  });
  cleanup.defer('serial console', () => console.stop());

  // QEMU has accepted the console by the time it answers on connections that came after it.
  const opening = (['recorderSocket', 'controlSocket'] as const).map(async (file) => {
    const monitor = await openMonitor(instanceFile(spec.directory, file), signal);
    cleanup.defer(file, () => monitor.close());
    return monitor;
  });
  const [recorder, control] = (await Promise.all(opening)) as [QmpClient, QmpClient];
  recorder.onEvent((event) => evidence.events.append(event.raw));

  const link = MachineLink.overSerialPort(instanceFile(spec.directory, 'muxSocket'));
  cleanup.defer('guest link', () => link.close());
  for (const { port, handler } of spec.listeners) await abortable(link.listen(port, handler), signal, `port ${port}`);

  if (stateFile !== null) await restoreDeviceState(control, stateScope, signal);
  await control.execute('cont', {}, { signal });
  if (stateFile !== null) await giveIdentity(link, spec, { signal, deadlineMs: spec.limits.startTimeoutMs });
  cleanup.disown();
  return new QemuMachine({ spec, process: qemu, evidence, recorder, control, consoleEnded: console.ended, link });
}

async function openMonitor(path: string, signal: AbortSignal): Promise<QmpClient> {
  return QmpClient.negotiate(await connectUnix(path, signal), { signal });
}

async function releaseAll(cleanup: CleanupStack, { machineId }: VmSpec): Promise<void> {
  try {
    await cleanup.run();
  } catch (e) {
    throw vmDriverError(
      'VM_INSTANCE_LEFTOVER',
      `the failed start of machine ${machineId} left something behind: ${(e as Error).message}`,
      { machineId },
      e,
    );
  }
}

async function startError(
  { machineId, limits }: VmSpec,
  cause: unknown,
  why: { readonly callerSignal: AbortSignal; readonly deadline: AbortSignal; readonly qemu: QemuProcess | null },
): Promise<Error> {
  if (why.callerSignal.aborted) {
    return kernelError(
      'OPERATION_ABORTED',
      `the start of machine ${machineId} was cancelled`,
      {},
      why.callerSignal.reason,
    );
  }
  if (why.deadline.aborted) {
    const { startTimeoutMs } = limits;
    return vmDriverError(
      'VM_START_TIMEOUT',
      `machine ${machineId} did not start within ${startTimeoutMs} ms`,
      { machineId },
      cause,
    );
  }
  if (isDomainError(cause) && cause.code in vmDriverError.table) return cause;
  return vmDriverError(
    'VM_START_FAILED',
    `machine ${machineId} did not start: ${await whyFailed(cause, why.qemu)}`,
    { machineId },
    cause,
  );
}

/** QEMU's own words where there are any, else how it ended, else what failed on our side. */
async function whyFailed(cause: unknown, qemu: QemuProcess | null): Promise<string> {
  const words = printable(qemu?.stderrTail() ?? '');
  if (qemu === null || words !== '') return words === '' ? (cause as Error).message : words;
  const { code, signal } = await qemu.exited;
  // SIGKILL was the teardown's.
  return signal === 'SIGKILL' ? (cause as Error).message : `QEMU ended with ${signal ?? `exit code ${code}`}`;
}

/** Error output may repeat what a guest made up: nothing of it may steer a terminal. */
const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').trim();
