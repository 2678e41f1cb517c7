import { createHash } from 'node:crypto';
import path from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { dto } from '@inquest/contracts-base';
import {
  DestroyMachineRequest,
  ExecRequest,
  IncarnationRequest,
  OpenStreamRequest,
  ResetMachineRequest,
  ShutdownMachineRequest,
  StartMachineRequest,
  vmOps,
  WaitMachineRequest,
  type DestroyedView,
  type ExecView,
  type MachineState,
  type MachineView,
  type VerdictReport,
} from '@inquest/contracts-vm';
import { HOST_NETWORK, type HostNetwork } from '@inquest/egress-proxy';
import { createFakeGuest, type FakeGuest } from '@inquest/guest-link/testing';
import { CleanupStack, type Operation } from '@inquest/kernel';
import type { EventBus, RpcClient } from '@inquest/messaging';
import { startService, type RunningService } from '@inquest/service';
import { startNats, startPostgres, tempDir, type PostgresFixture } from '@inquest/testing';
import {
  VM_DRIVER,
  type HostCheck,
  type VmAdoption,
  type VmCloneSpec,
  type VmCopySpec,
  type VmHandle,
  type VmSpec,
} from '@inquest/vm-driver';
import { FakeVmDriver, type FakeMachine } from '@inquest/vm-driver/testing';
import { vmService } from '../vm-service.definition';
import { VmServiceModule } from '../vm-service.module';
import { FakeImageService } from './fake-image-service';

const NODE = 'n1';
/** Of a long poll in tests. */
const WAIT_MS = 30_000;
export const TOKEN = 'operator-token';

/** The machines of a test: objects, whose guests the test plays. */
export class PlayedDriver extends FakeVmDriver {
  /** Every machine that was started, newest last. */
  readonly machines: FakeMachine[] = [];
  /** Awaited in the middle of each start. */
  duringStart: (spec: VmSpec, signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  /** Awaited by the host check. */
  whenProbed: () => Promise<void> = () => Promise.resolve();
  /** The guest of the next machines. */
  makeGuest: (spec: VmSpec) => Promise<FakeGuest> = () => createFakeGuest();

  constructor(instancesRoot: string) {
    super({
      instancesRoot,
      duringStart: (spec, signal) => this.duringStart(spec, signal),
      makeGuest: (spec) => this.makeGuest(spec),
    });
  }

  override async checkHost(signal: AbortSignal): Promise<HostCheck> {
    await this.whenProbed();
    return super.checkHost(signal);
  }

  override async start(spec: VmSpec, signal: AbortSignal): Promise<FakeMachine> {
    const machine = await super.start(spec, signal);
    this.machines.push(machine);
    return machine;
  }

  override async clone(spec: VmCloneSpec, signal: AbortSignal): Promise<FakeMachine> {
    const machine = await super.clone(spec, signal);
    this.machines.push(machine);
    return machine;
  }

  override async copy(source: VmHandle, spec: VmCopySpec, signal: AbortSignal): Promise<FakeMachine> {
    const machine = await super.copy(source, spec, signal);
    this.machines.push(machine);
    return machine;
  }

  override async adopt(machine: VmAdoption): Promise<FakeMachine> {
    const adopted = await super.adopt(machine);
    this.machines.push(adopted);
    return adopted;
  }

  /** The newest machine with that id. */
  machine(machineId: string): FakeMachine {
    const found = this.machines.findLast((machine) => machine.machineId === machineId);
    if (found === undefined) throw new Error(`machine ${machineId} was never started or taken over`);
    return found;
  }
}

/** A real vm-service on a real NATS and Postgres, with played machines and a fake image-service. */
export class VmServiceHarness {
  images!: FakeImageService;
  driver!: PlayedDriver;
  postgres!: PostgresFixture;
  home!: string;
  /** What the machines of the next vm-service can be let out to; the internet when it is not set. */
  network: HostNetwork | null = null;
  /** Awaited by the host check of the next vm-service. */
  whenProbed: () => Promise<void> = () => Promise.resolve();
  private readonly cleanup = new CleanupStack();
  private env!: Readonly<Record<string, string>>;
  private running: RunningService | null = null;

  static async start(env: Readonly<Record<string, string>> = {}): Promise<VmServiceHarness> {
    const harness = new VmServiceHarness();
    await harness.startAll(env).catch(async (e: unknown) => {
      await harness.stop();
      throw e;
    });
    return harness;
  }

  stop(): Promise<void> {
    return this.cleanup.run();
  }

  get url(): string {
    return this.service.url;
  }

  get rpc(): RpcClient {
    return this.images.rpc;
  }

  get bus(): EventBus {
    return this.images.bus;
  }

  get database(): DataSource {
    return this.service.app.get(DataSource, { strict: false });
  }

  get instancesRoot(): string {
    return path.join(this.home, 'machines');
  }

  evidenceFile(machineId: string, file: string, incarnation = 1): string {
    return path.join(this.home, 'evidence', machineId, String(incarnation), file);
  }

  /** Starts vm-service with a driver that knows nothing of earlier machines. */
  async startVmService(more: Readonly<Record<string, string>> = {}): Promise<void> {
    this.driver = new PlayedDriver(this.instancesRoot);
    this.driver.whenProbed = this.whenProbed;
    const driver: DynamicModule = {
      module: class PlayedDriverModule {},
      providers: [{ provide: VM_DRIVER, useValue: this.driver }],
      exports: [VM_DRIVER],
    };
    const definition = {
      ...vmService,
      module: (config: Parameters<typeof VmServiceModule.with>[0]) =>
        VmServiceModule.with(config, driver, this.networkModule()),
    };
    this.running = await startService(definition, { ...this.env, ...more });
  }

  async stopVmService(): Promise<void> {
    const { running } = this;
    this.running = null;
    await running?.stop();
  }

  call<Req extends object, Res extends object>(op: Operation<Req, Res>, request: Req): Promise<Res> {
    return this.rpc.call(op, request, op.perNode ? { node: NODE } : {});
  }

  start(more: Partial<StartMachineRequest> = {}): Promise<MachineView> {
    return this.call(vmOps.start, dto(StartMachineRequest, { image: 'tiny', ...more }));
  }

  /** A machine that is ready. */
  async boot(more: Partial<StartMachineRequest> = {}): Promise<MachineView> {
    const { machineId } = await this.start(more);
    return this.waitFor(machineId, 'ready', 'ended');
  }

  waitFor(machineId: string, ...states: MachineState[]): Promise<MachineView> {
    return this.call(vmOps.wait, dto(WaitMachineRequest, { machineId, states, waitMs: WAIT_MS }));
  }

  show(machineId: string): Promise<MachineView> {
    return this.call(vmOps.show, { machineId });
  }

  exec(machineId: string, command: string, more: Partial<ExecRequest> = {}): Promise<ExecView> {
    return this.call(vmOps.exec, dto(ExecRequest, { machineId, command, ...more }));
  }

  shutdown(machineId: string, more: Partial<ShutdownMachineRequest> = {}): Promise<MachineView> {
    return this.call(vmOps.shutdown, dto(ShutdownMachineRequest, { machineId, by: 'test', ...more }));
  }

  reset(machineId: string, incarnation: number | null = null): Promise<MachineView> {
    return this.call(vmOps.reset, dto(ResetMachineRequest, { machineId, incarnation, by: 'test' }));
  }

  destroy(machineId: string): Promise<DestroyedView> {
    return this.call(vmOps.destroy, dto(DestroyMachineRequest, { machineId, by: 'test' }));
  }

  verdict(machineId: string, incarnation: number | null = null): Promise<VerdictReport> {
    return this.call(vmOps.verdict, dto(IncarnationRequest, { machineId, incarnation }));
  }

  /** The answer of a byte stream that a ticket was asked for. */
  async stream(request: Partial<OpenStreamRequest>, init: RequestInit = {}): Promise<Response> {
    const { url, method } = await this.call(vmOps.openStream, dto(OpenStreamRequest, request));
    return fetch(url, { method, ...init });
  }

  private networkModule(): DynamicModule | undefined {
    if (this.network === null) return undefined;
    return {
      module: class PlayedNetworkModule {},
      providers: [{ provide: HOST_NETWORK, useValue: this.network }],
      exports: [HOST_NETWORK],
    };
  }

  private get service(): RunningService {
    if (this.running === null) throw new Error('vm-service does not run');
    return this.running;
  }

  private async startAll(env: Readonly<Record<string, string>>): Promise<void> {
    const directory = await tempDir('vm-service');
    this.cleanup.defer('the home directory', () => directory.remove());
    this.home = directory.path;
    const nats = await startNats();
    this.cleanup.defer('nats', () => nats.stop());
    this.postgres = await startPostgres();
    this.cleanup.defer('postgres', () => this.postgres.stop());
    this.images = await FakeImageService.start(nats.url, this.home);
    this.cleanup.defer('image-service', () => this.images.stop());
    await this.images.freeze();
    this.env = {
      INQUEST_HOME: this.home,
      INQUEST_NATS_URL: nats.url,
      INQUEST_DATABASE_URL: await this.postgres.createDatabase(),
      INQUEST_URL_SIGNING_KEY: 'k'.repeat(32),
      INQUEST_TOKEN_SHA256: createHash('sha256').update(TOKEN).digest('hex'),
      INQUEST_NODE_ID: NODE,
      INQUEST_MEMORY_RESERVE_MIB: '0',
      INQUEST_LOG_LEVEL: 'fatal',
      ...env,
    };
    this.cleanup.defer('vm-service', () => this.stopVmService());
    await this.startVmService();
  }
}
