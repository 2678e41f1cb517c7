import { abortable, CleanupStack, hasCode, kernelError } from '@inquest/kernel';
import { isAlive } from '@inquest/process';
import type { QmpClient } from '@inquest/qmp';
import { checkVmSpec, instanceFile, vmDriverError, type VmAdoption, type VmSpec } from '@inquest/vm-driver';
import { readInstanceRecord, recordedProcesses } from '@inquest/vm-instance';
import { AdoptedProcess, type AdoptedProcesses } from './adopted-process';
import { MachineLink } from './machine-link';
import { openMonitor } from './open-monitor';
import { QemuMachine } from './qemu-machine';
import { resumeEvidence } from './resume-evidence';
import { readSpecification } from './stored-specification';

/** A monitor answers in ms; one that is stopped or hangs must not hold up the service that starts. */
const MONITOR_DEADLINE_MS = 4_000;

/** Promises and errors of `AdoptingDriver.adopt`, apart from `VM_INSTANCE_EXISTS`. */
export async function adoptMachine(
  adoption: VmAdoption,
  instancesRoot: string,
  signal: AbortSignal,
): Promise<QemuMachine> {
  const { machineId } = adoption;
  const cleanup = new CleanupStack();
  try {
    const spec = await storedSpec(adoption, instancesRoot);
    const machine = await takeOver(spec, await livingProcesses(adoption), signal, cleanup);
    cleanup.disown();
    return machine;
  } catch (e) {
    await cleanup.run();
    if (signal.aborted) {
      throw kernelError('OPERATION_ABORTED', `taking over machine ${machineId} was cancelled`, {}, signal.reason);
    }
    throw hasCode(e, 'VM_INSTANCE_UNADOPTABLE') ? e : unadoptable(adoption, (e as Error).message, e);
  }
}

async function storedSpec(adoption: VmAdoption, instancesRoot: string): Promise<VmSpec> {
  const { directory, machineId, incarnation, listeners } = adoption;
  const stored = await readSpecification(directory);
  if (stored?.machineId !== machineId || stored.incarnation !== incarnation) {
    throw unadoptable(adoption, 'its specification is missing or damaged');
  }
  const spec = { ...stored, listeners };
  checkVmSpec(spec, instancesRoot);
  return spec;
}

async function livingProcesses(adoption: VmAdoption): Promise<AdoptedProcesses> {
  const recorded = await recordedProcesses(await readInstanceRecord(adoption.directory));
  const [shell, qemu] = recorded;
  if (qemu === undefined || shell === undefined || !(await isAlive(qemu))) {
    throw unadoptable(adoption, 'its monitor is gone');
  }
  return { shell: (await isAlive(shell)) ? shell : null, qemu };
}

async function takeOver(
  spec: VmSpec,
  processes: AdoptedProcesses,
  signal: AbortSignal,
  cleanup: CleanupStack,
): Promise<QemuMachine> {
  const { directory } = spec;
  const opening = (['recorderSocket', 'controlSocket'] as const).map(async (file) => {
    const monitor = await openMonitor(directory, file, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(MONITOR_DEADLINE_MS)]),
      deadlineMs: MONITOR_DEADLINE_MS,
    });
    cleanup.defer(file, () => monitor.close());
    return monitor;
  });
  // Both are waited for, so that neither is opened after the cleanup.
  await Promise.allSettled(opening);
  const [recorder, control] = (await Promise.all(opening)) as [QmpClient, QmpClient];

  const process = await AdoptedProcess.of(directory, processes, recorder.closed);
  const closing = new AbortController();
  void process.exited.then(() => closing.abort());
  const evidence = await resumeEvidence(spec, closing.signal);
  cleanup.defer('evidence files', () => evidence.recorder.close());
  cleanup.defer('serial console', () => evidence.console.stop());
  recorder.onEvent(evidence.keep);

  const link = MachineLink.overSerialPort(instanceFile(directory, 'muxSocket'));
  cleanup.defer('guest link', () => link.close());
  for (const { port, handler } of spec.listeners) await abortable(link.listen(port, handler), signal, `port ${port}`);
  const { recorder: recorded, console } = evidence;
  return new QemuMachine({ spec, process, evidence: recorded, recorder, control, consoleEnded: console.ended, link });
}

const unadoptable = ({ machineId, directory }: VmAdoption, why: string, cause?: unknown): Error =>
  vmDriverError(
    'VM_INSTANCE_UNADOPTABLE',
    `machine ${machineId} cannot be taken over: ${why}`,
    { machineId, directory },
    cause,
  );
