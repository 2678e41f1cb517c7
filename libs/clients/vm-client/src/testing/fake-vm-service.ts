import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { dto } from '@inquest/contracts-base';
import {
  ExecView,
  vmError,
  type ExecRequest,
  type StartMachineRequest,
  type TemplateState,
  type vmOps,
} from '@inquest/contracts-vm';
import { CleanupStack, DomainError, newMachineId, StateWaiters, type NodeId } from '@inquest/kernel';
import { MessagingModule, natsMicroserviceOptions } from '@inquest/messaging';
import { FakeMachine } from './fake-machine';
import { FakeStreams } from './fake-streams';
import { fakeVmController } from './fake-vm.controller';

export interface FakeVmServiceOptions {
  readonly natsUrl: string;
  /** Default `fake`. */
  readonly nodeId?: string;
  /** Default 4096. */
  readonly memoryAvailableMib?: number;
}

/** What a command of a fake guest gives; what is left out is a silent success. */
export interface FakeExecResult {
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

export type FakeExec = (
  request: ExecRequest,
  machine: FakeMachine,
  ended: AbortSignal,
) => FakeExecResult | Promise<FakeExecResult>;
export type VmOpName = keyof typeof vmOps;

/** The only image there is. */
const IMAGE = 'tiny';

/**
 * A vm-service without machines: answers every operation of the contract on a real NATS and opens real HTTP streams,
 * on guests that are maps of files. One instance is one node.
 */
export class FakeVmService {
  readonly nodeId: string;
  readonly memoryAvailableMib: number;
  /** By id, oldest first; also those that were destroyed. */
  readonly machines = new Map<string, FakeMachine>();
  /** Versions that have a template, as `name:version`. */
  readonly templates = new Set<string>();
  /** Of these, the ones that cannot be used, and why; making one anew mends it. */
  readonly unfitTemplates = new Map<string, Extract<TemplateState, 'outdated' | 'damaged'>>();
  /** Awaited in the middle of making a template. */
  duringTemplate: () => Promise<void> = () => Promise.resolve();
  /** Every call that arrived, oldest first. */
  readonly calls: VmOpName[] = [];
  readonly streams = new FakeStreams(this);
  /** What the screens of its machines show, as PNG; null: they have none. */
  picture: Uint8Array | null = null;
  readonly waiters = new StateWaiters();
  /** Runs the commands of `exec`. */
  onExec: FakeExec = () => ({});
  /** Machines that are started now stay `starting` until `becomeReady`. */
  isBootHeld = false;
  private readonly failures: { readonly op: VmOpName; readonly error: Error; readonly isDone: boolean }[] = [];
  private readonly cleanup = new CleanupStack();

  private constructor({ nodeId = 'fake', memoryAvailableMib = 4096 }: FakeVmServiceOptions) {
    this.nodeId = nodeId;
    this.memoryAvailableMib = memoryAvailableMib;
  }

  static async start(options: FakeVmServiceOptions): Promise<FakeVmService> {
    const service = new FakeVmService(options);
    await service.listen(options.natsUrl);
    return service;
  }

  /** As if it were killed: its calls find no responder. The machines stay for `start` of another one to forget. */
  stop(): Promise<void> {
    return this.cleanup.run();
  }

  /** The machine that was started last. */
  get newest(): FakeMachine {
    const machine = [...this.machines.values()].at(-1);
    if (machine === undefined) throw new Error('no machine was started');
    return machine;
  }

  get live(): FakeMachine[] {
    return [...this.machines.values()].filter(({ isLive }) => isLive);
  }

  /** The next call of `op` fails with `error`: before it did anything, or, where `isDone`, after it did everything. */
  failNext(op: VmOpName, error: Error, { isDone = false } = {}): void {
    this.failures.push({ op, error, isDone });
  }

  becomeReady(machine: FakeMachine): void {
    machine.becomeReady(Date.now());
    this.waiters.notify(machine.view.machineId);
  }

  /** Ends a machine as something outside of the session would. */
  end(machine: FakeMachine, verdictClass: string): void {
    machine.end(verdictClass, Date.now());
    this.waiters.notify(machine.view.machineId);
  }

  /** Does a call as the test wants it to go. */
  async perform<T>(op: VmOpName, work: () => T | Promise<T>): Promise<T> {
    this.calls.push(op);
    const index = this.failures.findIndex((failure) => failure.op === op);
    const [failure] = index === -1 ? [] : this.failures.splice(index, 1);
    if (failure !== undefined && !failure.isDone) throw failure.error;
    const result = await work();
    if (failure !== undefined) throw failure.error;
    return result;
  }

  begin(request: StartMachineRequest): FakeMachine {
    const known = [...this.machines.values()].find(
      ({ requestId }) => requestId !== null && requestId === request.requestId,
    );
    if (known !== undefined) return known;
    if (request.image !== IMAGE) throw imageUnknown(request.image);
    const machine = new FakeMachine(newMachineId(this.nodeId as NodeId), this.nodeId, request, Date.now());
    this.machines.set(machine.view.machineId, machine);
    if (!this.isBootHeld) setImmediate(() => this.becomeReady(machine));
    return machine;
  }

  /** Throws `MACHINE_UNKNOWN`. */
  find(machineId: string): FakeMachine {
    const machine = this.machines.get(machineId);
    if (machine === undefined) throw vmError('MACHINE_UNKNOWN', `no machine ${machineId} is known`);
    return machine;
  }

  /** A machine whose guest answers. Throws `MACHINE_UNKNOWN` and `MACHINE_STATE_WRONG`. */
  ready(machineId: string): FakeMachine {
    const machine = this.find(machineId);
    if (machine.view.state === 'ready') return machine;
    throw vmError('MACHINE_STATE_WRONG', `machine ${machineId} is ${machine.view.state}`, {
      state: machine.view.state,
    });
  }

  /** Runs a command; ends with `MACHINE_LOST` when the machine does. */
  async exec(request: ExecRequest): Promise<ExecView> {
    const machine = this.ready(request.machineId);
    const { signal } = machine.ended;
    const lost = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(vmError('MACHINE_LOST', machine.view.message)), { once: true }),
    );
    lost.catch(() => undefined);
    const {
      exitCode = 0,
      stdout = '',
      stderr = '',
    } = await Promise.race([this.onExec(request, machine, signal), lost]);
    return dto(ExecView, {
      exitCode,
      signal: null,
      timedOut: false,
      durationMs: 1,
      stdout: output(stdout),
      stderr: output(stderr),
    });
  }

  private async listen(natsUrl: string): Promise<void> {
    const { nodeId } = this;
    await this.streams.listen();
    this.cleanup.defer('streams', () => this.streams.close());
    @Module({
      imports: [MessagingModule.forRoot({ serviceName: 'vm-service', natsUrl, nodeId })],
      controllers: [fakeVmController(this)],
    })
    class FakeVmModule {}
    const app = await NestFactory.create(FakeVmModule, { logger: false, abortOnError: false });
    this.cleanup.defer('the application', () => app.close());
    app.connectMicroservice(natsMicroserviceOptions(app));
    await app.init();
    await app.startAllMicroservices();
  }
}

/** As vm-service passes it on from image-service. */
const imageUnknown = (image: string): Error =>
  new DomainError(
    'IMAGE_UNKNOWN',
    'caller',
    404,
    `no image "${image}" is known`,
    'List the images with `vmctl image ls`.',
  );

const output = (text: string) => ({ text, totalBytes: Buffer.byteLength(text), droppedBytes: 0, isLossy: false });
