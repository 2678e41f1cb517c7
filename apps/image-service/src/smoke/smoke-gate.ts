import { Injectable } from '@nestjs/common';
import { imageError, type SmokeCheckView } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import {
  ExecRequest,
  ShutdownMachineRequest,
  StartMachineRequest,
  WaitMachineRequest,
  type MachineView,
} from '@inquest/contracts-vm';
import { deadlineSignal, isDomainError } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';
import { ImageServiceConfig } from '../image-service.config';
import type { OperationProgress } from '../operations/operations.service';
import type { ImageVersionEntity } from '../images/image-version.entity';
import type { RecipeCheck } from '../recipes/recipe';
import { SmokeMachines } from './smoke-machines';

/** One long poll for a machine's state. */
const WAIT_SLICE_MS = 20_000;
/** A check may wait for the system to be up: under emulation that takes a minute or two. */
const CHECK_TIMEOUT_MS = 180_000;
const POWEROFF_WAIT_MS = 50_000;
const MAX_NAME_CHARS = 128;
const MAX_DETAIL_CHARS = 4096;
/** Of a command's output, in the detail of its check. */
const SHOWN_OUTPUT_CHARS = 1024;

/** One smoke test. */
interface SmokeTest {
  readonly row: ImageVersionEntity;
  readonly progress: OperationProgress;
  /** Told each check as its outcome is known. */
  readonly onCheck: (check: SmokeCheckView) => Promise<void>;
  /** Aborts when the test takes too long, or the service stops. */
  readonly signal: AbortSignal;
}

/** A version is booted the way a session will boot it, and must prove itself before it can be frozen. */
@Injectable()
export class SmokeGate {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly machines: VmClient,
    private readonly smokeMachines: SmokeMachines,
  ) {}

  /**
   * All checks in order, each told to `onCheck` as it is known. Throws `IMAGE_SMOKE_FAILED` naming the first that
   * failed, and what vm-service answers when it could not be tested; the machine is gone then, its evidence stays.
   */
  async run(
    row: ImageVersionEntity,
    progress: OperationProgress,
    onCheck: (check: SmokeCheckView) => Promise<void>,
  ): Promise<void> {
    await progress.step('boot', 10);
    const signal = deadlineSignal(this.config.smokeTimeoutMs, progress.signal);
    let machineId: string | null = null;
    try {
      const machine = await this.start(row, progress, signal);
      machineId = machine.machineId;
      await this.check({ row, progress, onCheck, signal }, machine);
    } finally {
      await this.smokeMachines.release(progress.operationId, machineId);
    }
  }

  private start(
    { name, version, defaultMemoryMib }: ImageVersionEntity,
    { operationId }: OperationProgress,
    signal: AbortSignal,
  ): Promise<MachineView> {
    const request = dto(StartMachineRequest, {
      requestId: operationId,
      image: name,
      version,
      memoryMib: defaultMemoryMib,
      owner: operationId,
      purpose: 'smoke',
    });
    return this.machines.start(request, { signal });
  }

  private async check(test: SmokeTest, machine: MachineView): Promise<void> {
    const { row, progress, signal } = test;
    const { machineId } = machine;
    await this.require(test, machineId, 'the guest agent answers', () => this.whenReady(machine, signal));
    await progress.step('run the checks', 50);
    for (const check of row.smokeChecks) {
      await this.require(test, machineId, check.name, () => this.exec(machineId, commandOf(check), signal));
    }
    const { requiredCli } = row;
    if (requiredCli === null) {
      // Nothing to check is said as such: "unchecked" must never read like "passed".
      await test.onCheck({ name: 'required CLI', outcome: 'unchecked', detail: 'none is required' });
    } else {
      const name = `required CLI: ${requiredCli}`;
      await this.require(test, machineId, name, () => this.exec(machineId, requiredCli, signal));
    }
    await progress.step('power off', 80);
    await this.require(test, machineId, 'powers off cleanly', () => this.powerOff(machineId, signal));
  }

  private async require(
    { row, progress, onCheck, signal }: SmokeTest,
    machineId: string,
    name: string,
    work: () => Promise<string>,
  ): Promise<void> {
    const isLate = (): boolean => signal.aborted && !progress.signal.aborted;
    const check = await outcomeOf(name, work, () =>
      isLate() ? `the smoke test took longer than ${this.config.smokeTimeoutMs} ms` : null,
    );
    await onCheck(check);
    if (check.outcome === 'passed') return;
    const { name: image, version } = row;
    const message = `image ${image}:${version} failed the check "${check.name}": ${check.detail}`;
    throw imageError('IMAGE_SMOKE_FAILED', message, {
      image,
      version,
      check: check.name,
      machine: machineId,
    });
  }

  private async whenReady(started: MachineView, signal: AbortSignal): Promise<string> {
    const { machineId, createdAtMs } = started;
    for (let machine = started; ;) {
      if (machine.state === 'ready') return `after ${(((machine.readyAtMs ?? 0) - createdAtMs) / 1000).toFixed(1)} s`;
      if (machine.state === 'ended') {
        throw imageError('IMAGE_SMOKE_FAILED', `the machine ended before it was ready: ${machine.message}`);
      }
      const request = dto(WaitMachineRequest, { machineId, states: ['ready', 'ended'], waitMs: WAIT_SLICE_MS });
      machine = await this.machines.wait(request, { signal });
    }
  }

  private async exec(machineId: string, command: string, signal: AbortSignal): Promise<string> {
    const request = dto(ExecRequest, { machineId, command, timeoutMs: CHECK_TIMEOUT_MS });
    const result = await this.machines.exec(request, { signal });
    const output = `${result.stdout.text}${result.stderr.text}`.trim().slice(0, SHOWN_OUTPUT_CHARS);
    if (result.exitCode === 0) return output === '' ? 'exit code 0' : output;
    const how = result.timedOut ? 'timed out' : `exit code ${result.exitCode ?? result.signal}`;
    throw imageError('IMAGE_SMOKE_FAILED', `${how}${output === '' ? '' : `: ${output}`}`);
  }

  private async powerOff(machineId: string, signal: AbortSignal): Promise<string> {
    const request = dto(ShutdownMachineRequest, { machineId, waitMs: POWEROFF_WAIT_MS, by: 'smoke-gate' });
    const machine = await this.machines.shutdown(request, { signal });
    const verdict = machine.verdict?.class ?? `still ${machine.state}`;
    if (verdict === 'clean_poweroff') return machine.verdict?.account ?? verdict;
    throw imageError('IMAGE_SMOKE_FAILED', `the verdict is ${verdict}: ${machine.message}`);
  }
}

/** As one line for the guest's shell; arguments are quoted, so that none of them is read as syntax. */
const commandOf = ({ argv, shell }: RecipeCheck): string =>
  shell ?? (argv ?? []).map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

/** A failure that says nothing of the version, such as a node that went away, is thrown on. */
async function outcomeOf(
  name: string,
  work: () => Promise<string>,
  lateness: () => string | null,
): Promise<SmokeCheckView> {
  const shown = name.slice(0, MAX_NAME_CHARS);
  try {
    return { name: shown, outcome: 'passed', detail: (await work()).slice(0, MAX_DETAIL_CHARS) };
  } catch (e) {
    const late = lateness();
    if (late !== null) return { name: shown, outcome: 'failed', detail: late };
    if (!isDomainError(e) || e.fault === 'infra' || e.code === 'OPERATION_ABORTED') throw e;
    return { name: shown, outcome: 'failed', detail: e.message.slice(0, MAX_DETAIL_CHARS) };
  }
}
