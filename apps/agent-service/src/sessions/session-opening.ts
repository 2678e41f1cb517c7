import { Injectable } from '@nestjs/common';
import { PROJECT_PATH } from '@inquest/contracts-agent';
import { publishOps } from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-shared';
import { StartMachineRequest, vmError, WaitMachineRequest, type MachineView } from '@inquest/contracts-vm';
import type { SessionId } from '@inquest/kernel';
import { RpcClient } from '@inquest/messaging';
import { TRANSCRIPT_FORMAT_VERSION } from '@inquest/transcript';
import { VmClient } from '@inquest/vm-client';
import { AgentServiceConfig } from '../agent-service.config';
import { TranscriptsService } from '../transcript/transcripts.service';
import type { SessionEntity } from './session.entity';
import { SessionsRepository } from './sessions.repository';

/** One long poll for a machine's state; below what any hop in between gives up after. */
const WAIT_SLICE_MS = 20_000;

/** Takes a session from `opening` to `ready`: project, machine, files in the guest. */
@Injectable()
export class SessionOpening {
  constructor(
    private readonly config: AgentServiceConfig,
    private readonly sessions: SessionsRepository,
    private readonly transcripts: TranscriptsService,
    private readonly machines: VmClient,
    private readonly rpc: RpcClient,
  ) {}

  /** Throws what the services throw; the machine, if one was started, is named in the session's row by then. */
  async open(session: SessionEntity, signal: AbortSignal): Promise<void> {
    const sessionId = session.sessionId as SessionId;
    const { project } = session;
    await this.rpc.call(publishOps.ensureProject, { project }, { signal });
    const started = await this.machines.start(
      dto(StartMachineRequest, {
        // The session's own id: a start that is repeated after a crash finds the machine it already made.
        requestId: sessionId,
        image: session.image,
        version: session.imageVersion,
        memoryMib: session.memoryMib,
        owner: sessionId,
      }),
    );
    await this.sessions.change(sessionId, {
      machineId: started.machineId,
      reason: 'booting',
      message: 'the machine is booting',
    });
    await this.transcripts.append(sessionId, null, 'session_opened', {
      formatVersion: TRANSCRIPT_FORMAT_VERSION,
      project,
      image: `${started.image}:${started.version}`,
      machineId: started.machineId,
    });
    const machine = await this.whenReady(started, signal);
    await this.noteReady(sessionId, machine);
    await this.rpc.call(publishOps.stageProject, { project, sessionId, machineId: machine.machineId }, { signal });
    await this.sessions.changeFrom(sessionId, ['opening'], {
      state: 'ready',
      reason: 'ready',
      message: `the project is at ${PROJECT_PATH} of machine ${machine.machineId}`,
    });
  }

  private async whenReady(started: MachineView, signal: AbortSignal): Promise<MachineView> {
    const { machineId } = started;
    const deadline = performance.now() + this.config.machineReadyTimeoutMs;
    for (let machine = started; ;) {
      if (machine.state === 'ready') return machine;
      if (machine.state === 'ended' || performance.now() > deadline) {
        throw vmError('MACHINE_BOOT_FAILED', `machine ${machineId} did not become ready: ${machine.message}`, {
          machine: machineId,
          state: machine.state,
        });
      }
      signal.throwIfAborted();
      const request = dto(WaitMachineRequest, { machineId, states: ['ready', 'ended'], waitMs: WAIT_SLICE_MS });
      machine = await this.machines.wait(request, { signal });
    }
  }

  private noteReady(sessionId: SessionId, machine: MachineView): Promise<void> {
    const seconds = (((machine.readyAtMs ?? Date.now()) - machine.createdAtMs) / 1000).toFixed(1);
    const detail = `${machine.memoryMib} MiB, ${machine.cpus} cpu, ${machine.accelerator}; the guest agent answered after ${seconds} s`;
    return this.transcripts.append(sessionId, null, 'host_event', { event: 'machine_ready', detail });
  }
}
