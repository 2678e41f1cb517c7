import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { abortable, CleanupStack, kernelError } from '@inquest/kernel';
import { GuestAgentClient } from '@inquest/guest-link';
import { connectFakeGuest, createFakeGuest, type FakeGuest } from '@inquest/guest-link/testing';
import type { AdoptingDriver, VmAdoption } from '../adopting-driver';
import type { CopyDriver, ShareDriver, VmCopySpec } from '../capabilities';
import { checkInstanceDirectory, checkVmSpec } from '../check-vm-spec';
import { vmDriverError } from '../errors';
import { instanceFile, overlayFile } from '../instance-files';
import { EvidenceRecorder } from '../recording/evidence-recorder';
import { giveIdentity } from '../give-identity';
import type { TemplateDriver, VmCloneSpec, VmTemplate } from '../template-driver';
import type { DestroyedInstance, HostCheck, ReapedInstance } from '../vm-driver';
import type { VmHandle } from '../vm-handle';
import type { VmSpec } from '../vm-specification';
import { FakeMachine } from './fake-machine';
import { makeTemplateDirectory, readFakeTemplate, writeFakeTemplate } from './fake-template';

/** One above the largest pid of Linux (PID_MAX_LIMIT, 2^22): no process can have it, so none can be hurt. */
const FIRST_FAKE_PID = 4_194_305;

/** Mode bits of a directory that others may read and search. */
const FOR_EVERYBODY = 0o005;

/** How a fake driver behaves. */
export interface FakeVmDriverOptions {
  readonly instancesRoot: string;
  /** The guest agent of a new machine. Default: one that answers pings and knows no command. */
  readonly makeGuest?: (spec: VmSpec) => Promise<FakeGuest>;
  /** Awaited in the middle of each start: holds it, or fails it by rejecting. */
  readonly duringStart?: (spec: VmSpec, signal: AbortSignal) => Promise<void>;
}

interface FakeLife {
  readonly abort: AbortController;
  readonly started: Promise<FakeMachine>;
}

/** Machines whose process is gone, by instance directory: like processes, they are no driver's. */
const ABANDONED = new Map<string, FakeMachine>();

/** A driver whose machines are objects and whose files are real. Passes `describeVmDriver` and `describeTemplateDriver`. */
export class FakeVmDriver implements TemplateDriver, ShareDriver, CopyDriver, AdoptingDriver {
  readonly name = 'fake';
  readonly capabilities = {
    templates: true,
    screenshots: true,
    input: true,
    serialShells: true,
    shares: true,
    networks: true,
    copies: true,
    adoption: true,
  } as const;
  private readonly lives = new Map<string, FakeLife>();
  private nextPid = FIRST_FAKE_PID;

  constructor(private readonly options: FakeVmDriverOptions) {}

  checkHost(signal: AbortSignal): Promise<HostCheck> {
    if (signal.aborted) return Promise.reject(aborted('the host check', signal));
    return Promise.resolve({ accelerator: 'none', reason: 'a fake runs no instructions', version: 'fake 1.0.0' });
  }

  async start(spec: VmSpec, signal: AbortSignal): Promise<FakeMachine> {
    checkVmSpec(spec, this.options.instancesRoot);
    return this.own(spec, 'booted', signal);
  }

  async openTemplate(directory: string): Promise<VmTemplate> {
    const { cpus, memoryMib, hasScreen } = await readFakeTemplate(directory);
    return { directory, cpus, memoryMib, hasScreen };
  }

  async clone({ template, ...rest }: VmCloneSpec, signal: AbortSignal): Promise<FakeMachine> {
    const { cpus, memoryMib, hasScreen, spec } = await readFakeTemplate(template.directory);
    const cloneSpec: VmSpec = { ...rest, cpus, memoryMib, hasScreen, ...spec };
    checkVmSpec(cloneSpec, this.options.instancesRoot);
    return this.own(cloneSpec, 'continued', signal);
  }

  async captureTemplate(machine: VmHandle, directory: string, signal: AbortSignal): Promise<VmTemplate> {
    const { machineId } = machine;
    if (!(machine instanceof FakeMachine) || machine.hasEnded || !machine.canBecomeTemplate) {
      throw vmDriverError('VM_MACHINE_UNCAPTURABLE', `machine ${machineId} cannot become a template`, { machineId });
    }
    await makeTemplateDirectory(directory);
    try {
      await new GuestAgentClient(machine.link).quiesce({ signal });
      await machine.end('quit');
      return await writeFakeTemplate(directory, machine.spec);
    } catch (e) {
      await rm(directory, { recursive: true, force: true });
      throw e;
    }
  }

  async copy(source: VmHandle, spec: VmCopySpec, signal: AbortSignal): Promise<FakeMachine> {
    const { machineId } = source;
    if (!(source instanceof FakeMachine) || source.hasEnded || !source.canBeCopied) {
      throw vmDriverError('VM_MACHINE_UNCAPTURABLE', `machine ${machineId} cannot be copied`, { machineId });
    }
    await source.pause(signal);
    await source.resume(signal);
    const { cpus, memoryMib, hasScreen = false, boot, disk } = source.spec;
    const copySpec: VmSpec = { ...spec, cpus, memoryMib, hasScreen, boot, disk };
    checkVmSpec(copySpec, this.options.instancesRoot);
    return this.own(copySpec, 'continued', signal);
  }

  /** The process of this driver dies; a machine of it runs on, and is nobody's. */
  async abandon(directory: string): Promise<FakeMachine> {
    const machine = await this.lives.get(directory)?.started;
    if (machine === undefined) throw kernelError('INTERNAL', `there is no machine in ${directory}`);
    this.lives.delete(directory);
    await machine.abandon();
    ABANDONED.set(directory, machine);
    return machine;
  }

  async adopt({ directory, machineId, incarnation, listeners }: VmAdoption): Promise<FakeMachine> {
    checkInstanceDirectory(directory, this.options.instancesRoot);
    if (this.lives.has(directory)) throw existsError({ machineId, directory });
    const left = ABANDONED.get(directory);
    if (left?.hasEnded !== false || left.machineId !== machineId || left.incarnation !== incarnation) {
      throw vmDriverError('VM_INSTANCE_UNADOPTABLE', `machine ${machineId} is not there`, { machineId });
    }
    ABANDONED.delete(directory);
    const guest = await connectFakeGuest(left.guest.agent);
    for (const { port, handler } of listeners) await guest.link.listen(port, handler);
    const machine = new FakeMachine(
      { ...left.spec, listeners },
      left.pid,
      guest,
      await left.resumeEvidence(),
      'adopted',
    );
    this.lives.set(directory, { abort: new AbortController(), started: Promise.resolve(machine) });
    return machine;
  }

  /** As for a monitor that is nobody's friend. */
  async checkShare(directory: string): Promise<void> {
    const mode = await stat(directory).then(
      (found) => (found.isDirectory() ? found.mode : 0),
      () => 0,
    );
    if ((mode & FOR_EVERYBODY) === FOR_EVERYBODY) return;
    throw vmDriverError('VM_FILE_UNREADABLE', `a machine cannot use ${directory}`, { file: directory });
  }

  async destroyInstance(directory: string): Promise<DestroyedInstance> {
    checkInstanceDirectory(directory, this.options.instancesRoot);
    const life = this.lives.get(directory);
    life?.abort.abort();
    const machine = (await life?.started.catch(() => null)) ?? null;
    const signalled = machine !== null && !machine.hasEnded;
    await machine?.stop({ graceMs: 0 });
    await rm(directory, { recursive: true, force: true });
    this.lives.delete(directory);
    return { killed: true, signalled, directoryRemoved: true };
  }

  async reapOrphans(signal: AbortSignal): Promise<readonly ReapedInstance[]> {
    const { instancesRoot } = this.options;
    await mkdir(instancesRoot, { recursive: true });
    const reaped: ReapedInstance[] = [];
    for (const name of await readdir(instancesRoot)) {
      const directory = path.join(instancesRoot, name);
      if (this.lives.has(directory)) continue;
      if (signal.aborted) throw aborted('reaping', signal);
      reaped.push({
        ...(await readRecord(directory)),
        ...(await endAbandoned(directory)),
        directory,
        observedGone: true,
      });
      await rm(directory, { recursive: true, force: true });
    }
    return reaped;
  }

  private async own(spec: VmSpec, birth: 'booted' | 'continued', signal: AbortSignal): Promise<FakeMachine> {
    const { directory } = spec;
    if (this.lives.has(directory)) throw existsError(spec);
    const abort = new AbortController();
    const started = this.launch(spec, birth, AbortSignal.any([signal, abort.signal]));
    this.lives.set(directory, { abort, started });
    try {
      return await started;
    } catch (e) {
      this.lives.delete(directory);
      throw e;
    }
  }

  private async launch(spec: VmSpec, birth: 'booted' | 'continued', signal: AbortSignal): Promise<FakeMachine> {
    const cleanup = new CleanupStack();
    try {
      const machine = await this.launchSteps(spec, birth, signal, cleanup);
      if (signal.aborted) throw aborted(`the start of machine ${spec.machineId}`, signal);
      cleanup.disown();
      return machine;
    } catch (e) {
      await cleanup.run();
      throw signal.aborted ? aborted(`the start of machine ${spec.machineId}`, signal) : e;
    }
  }

  private async launchSteps(
    spec: VmSpec,
    birth: 'booted' | 'continued',
    signal: AbortSignal,
    cleanup: CleanupStack,
  ): Promise<FakeMachine> {
    signal.throwIfAborted();
    for (const { path: shared } of spec.shares ?? []) await this.checkShare(shared);
    await mkdir(this.options.instancesRoot, { recursive: true });
    await claimDirectory(spec);
    cleanup.defer('instance directory', () => rm(spec.directory, { recursive: true, force: true }));
    const pid = this.nextPid++;
    await writeInstance(spec, pid);
    const evidence = await EvidenceRecorder.create(spec.evidenceDirectory);
    cleanup.defer('evidence files', () => evidence.close());
    const { duringStart } = this.options;
    if (duringStart !== undefined) await abortable(duringStart(spec, signal), signal, 'the start');
    const guest = await (this.options.makeGuest ?? createFakeGuest)(spec);
    cleanup.defer('guest', () => guest.link.close());
    for (const { port, handler } of spec.listeners) await guest.link.listen(port, handler);
    const machine = new FakeMachine(spec, pid, guest, evidence, birth);
    cleanup.defer('machine', async () => void (await machine.stop({ graceMs: 0 })));
    if (birth === 'continued') await giveIdentity(guest.link, spec, { signal });
    return machine;
  }
}

async function claimDirectory(spec: VmSpec): Promise<void> {
  try {
    await mkdir(spec.directory);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
    throw existsError(spec);
  }
}

async function writeInstance(spec: VmSpec, pid: number): Promise<void> {
  const { directory, machineId, incarnation } = spec;
  await writeFile(instanceFile(directory, 'record'), JSON.stringify({ machineId, incarnation, pid }));
  await mkdir(instanceFile(directory, 'vmm'));
  await writeFile(overlayFile(directory, incarnation), '');
}

/** The evidence of a machine that nobody took over, completed. */
async function endAbandoned(directory: string): Promise<Pick<ReapedInstance, 'exit' | 'recording'> & { pid?: null }> {
  const machine = ABANDONED.get(directory);
  if (machine === undefined) return { exit: null, recording: null };
  ABANDONED.delete(directory);
  const wasGone = machine.hasEnded;
  const exit = await machine.stop({ graceMs: 0 });
  const recorder = await machine.resumeEvidence();
  await recorder.close();
  return { exit, recording: recorder.recording, ...(wasGone ? { pid: null } : {}) };
}

type FakeRecord = Pick<ReapedInstance, 'machineId' | 'incarnation' | 'pid'>;

async function readRecord(directory: string): Promise<FakeRecord> {
  const text = await readFile(instanceFile(directory, 'record'), 'utf8').catch(() => null);
  return text === null ? { machineId: null, incarnation: null, pid: null } : (JSON.parse(text) as FakeRecord);
}

const existsError = ({ machineId, directory }: Pick<VmSpec, 'machineId' | 'directory'>): Error =>
  vmDriverError('VM_INSTANCE_EXISTS', `machine ${machineId} has an instance already: ${directory} exists`, {
    machineId,
  });

const aborted = (what: string, signal: AbortSignal): Error =>
  kernelError('OPERATION_ABORTED', `${what} was cancelled`, {}, signal.reason);

/** The fake behind a handle, for tests that reach a machine through the code under test. */
export function fakeMachineOf(machine: VmHandle): FakeMachine {
  if (machine instanceof FakeMachine) return machine;
  throw kernelError('INTERNAL', `machine ${machine.machineId} is not a fake`);
}
