import { Injectable } from '@nestjs/common';
import { PROJECT_PATH } from '@inquest/contracts-agent';
import { publishOps } from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';
import { StartMachineRequest, vmError, WaitMachineRequest, type MachineView } from '@inquest/contracts-vm';
import type { SessionId } from '@inquest/kernel';
import { RpcClient } from '@inquest/messaging';
import { TRANSCRIPT_FORMAT_VERSION } from '@inquest/transcript';
import { VmClient } from '@inquest/vm-client';
import { AgentServiceConfig } from '../agent-service.config';
import { TranscriptsService } from '../transcript/transcripts.service';
import { retryUnavailable } from './retry-unavailable';
import type { SessionEntity } from './session.entity';
import { SessionsRepository } from './sessions.repository';

/** One long poll for a machine's state; below what any hop in between gives up after. */
const WAIT_SLICE_MS = 20_000;
/** How long each step waits for a service that is being restarted. */
const RETRY_MS = 15_000;

export interface OpenOptions {
  /** An earlier life of this service may have begun to open the session. */
  readonly isRepeat: boolean;
  readonly signal: AbortSignal;
}

/** Takes a session from `opening` to `ready`: project, machine, files in the guest. Safe to repeat. */
@Injectable()
export class SessionOpening {
  constructor(
    private readonly config: AgentServiceConfig,
    private readonly sessions: SessionsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly machines: VmClient,
    private readonly rpc: RpcClient,
  ) {}

  /** Throws what the services throw; a machine that was started is owned by the session's id then. */
  async open(session: SessionEntity, { isRepeat, signal }: OpenOptions): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    const { project } = session;
    const step = <T>(work: () => Promise<T>): Promise<T> => retryUnavailable(work, { withinMs: RETRY_MS, signal });
    await step(() => this.rpc.call(publishOps.ensureProject, { project }, { signal }));
    const started = await this.startMachine(session, { isRepeat, signal });
    const { machineId } = started;
    await this.sessions.change(sessionId, { machineId, reason: 'booting', message: 'the machine is booting' });
    await this.transcripts.appendOnce(sessionId, 'session_opened', {
      formatVersion: TRANSCRIPT_FORMAT_VERSION,
      project,
      image: `${started.image}:${started.version}`,
      machineId,
    });
    await this.noteReady(sessionId, await this.whenReady(started, signal));
    await step(() => this.rpc.call(publishOps.stageProject, { project, sessionId, machineId }, { signal }));
    await this.sessions.changeFrom(sessionId, ['opening'], {
      state: 'ready',
      reason: 'ready',
      message: `the project is at ${PROJECT_PATH} of machine ${machineId}`,
    });
  }

  /** The machine of the session: the one that an earlier try started, or a new one. */
  private startMachine(session: SessionEntity, { isRepeat, signal }: OpenOptions): Promise<MachineView> {
    const { sessionId, machineId, image, imageVersion: version, memoryMib, allowedHosts } = session;
    if (machineId !== null) {
      return retryUnavailable(() => this.machines.show(machineId, { signal }), { withinMs: RETRY_MS, signal });
    }
    const shape = { image, version, memoryMib, allowedHosts };
    const request = dto(StartMachineRequest, { requestId: sessionId, owner: sessionId, ...shape });
    let mayExist = isRepeat;
    const start = async (): Promise<MachineView> => {
      const existing = mayExist ? await this.machines.findOwned(sessionId, { signal }) : null;
      mayExist = true;
      // Not given up when the session is closed meanwhile: then it would be unknown what there is to end.
      return existing ?? (await this.machines.start(request));
    };
    return retryUnavailable(start, { withinMs: RETRY_MS, signal });
  }

  private async whenReady(started: MachineView, signal: AbortSignal): Promise<MachineView> {
    const { machineId } = started;
    const deadline = performance.now() + this.config.machineReadyTimeoutMs;
    const request = dto(WaitMachineRequest, { machineId, states: ['ready', 'ended'], waitMs: WAIT_SLICE_MS });
    const wait = (): Promise<MachineView> => this.machines.wait(request, { signal });
    for (let machine = started; ;) {
      if (machine.state === 'ready') return machine;
      if (machine.state === 'ended' || performance.now() > deadline) {
        throw vmError('MACHINE_BOOT_FAILED', `machine ${machineId} did not become ready: ${machine.message}`, {
          machine: machineId,
          state: machine.state,
        });
      }
      machine = await retryUnavailable(wait, { withinMs: RETRY_MS, signal });
    }
  }

  private noteReady(sessionId: SessionId, machine: MachineView): Promise<void> {
    const { memoryMib, cpus, accelerator, readyAtMs, createdAtMs } = machine;
    const boot =
      readyAtMs === null ? '' : `; the guest agent answered after ${((readyAtMs - createdAtMs) / 1000).toFixed(1)} s`;
    const detail = `${memoryMib} MiB, ${cpus} cpu, ${accelerator}${boot}`;
    return this.transcripts.appendOnce(sessionId, 'host_event', { event: 'machine_ready', detail });
  }
}
