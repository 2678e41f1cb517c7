import { Injectable } from '@nestjs/common';
import { imageError, type SmokeCheckView } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-shared';
import {
  DestroyMachineRequest,
  ExecRequest,
  ShutdownMachineRequest,
  StartMachineRequest,
  WaitMachineRequest,
  type MachineView,
} from '@inquest/contracts-vm';
import { isDomainError } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';
import { ImageServiceConfig } from '../image-service.config';
import type { OperationProgress } from '../operations/operations.service';
import type { Recipe, RecipeCheck } from '../recipes/recipe';

/** One long poll for a machine's state. */
const WAIT_SLICE_MS = 20_000;
const CHECK_TIMEOUT_MS = 60_000;
const POWEROFF_WAIT_MS = 50_000;

/** A version is booted the way a session will boot it, and must prove itself before it can be frozen. */
@Injectable()
export class SmokeGate {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly machines: VmClient,
  ) {}

  /**
   * All checks in order, each told to `onCheck` as it is known. Throws `IMAGE_SMOKE_FAILED` naming the first that
   * failed; the machine is gone then, its evidence stays.
   */
  async run(
    recipe: Recipe,
    version: number,
    progress: OperationProgress,
    onCheck: (check: SmokeCheckView) => Promise<void>,
  ): Promise<void> {
    await progress.step('boot', 10);
    const started = await this.machines.start(
      dto(StartMachineRequest, {
        requestId: progress.operationId,
        image: recipe.name,
        version,
        memoryMib: recipe.memoryMib,
        owner: progress.operationId,
        purpose: 'smoke',
      }),
    );
    try {
      await this.check(recipe, version, started, progress, onCheck);
    } finally {
      await this.machines.destroy(dto(DestroyMachineRequest, { machineId: started.machineId, by: 'smoke-gate' }));
    }
  }

  private async check(
    recipe: Recipe,
    version: number,
    started: MachineView,
    progress: OperationProgress,
    onCheck: (check: SmokeCheckView) => Promise<void>,
  ): Promise<void> {
    const { machineId } = started;
    const require = async (name: string, work: () => Promise<string>): Promise<void> => {
      const check = await outcomeOf(name, work);
      await onCheck(check);
      if (check.outcome === 'passed') return;
      throw imageError(
        'IMAGE_SMOKE_FAILED',
        `image ${recipe.name}:${version} failed the check "${name}": ${check.detail}`,
        {
          image: recipe.name,
          version,
          check: name,
          machine: machineId,
        },
      );
    };
    await require('the guest agent answers', () => this.whenReady(started, progress.signal));
    await progress.step('run the checks', 50);
    for (const check of recipe.checks) await require(check.name, () => this.exec(machineId, commandOf(check)));
    const { requiredCli } = recipe;
    // Nothing to check is said as such: "unchecked" must never read like "passed".
    if (requiredCli === null)
      await onCheck({ name: 'required CLI', outcome: 'unchecked', detail: 'the recipe requires none' });
    else await require(`required CLI: ${requiredCli}`, () => this.exec(machineId, requiredCli));
    await progress.step('power off', 80);
    await require('powers off cleanly', () => this.powerOff(machineId));
  }

  private async whenReady(started: MachineView, signal: AbortSignal): Promise<string> {
    const deadline = performance.now() + this.config.smokeTimeoutMs;
    const { machineId } = started;
    for (let machine = started; ;) {
      if (machine.state === 'ready')
        return `after ${(((machine.readyAtMs ?? 0) - machine.createdAtMs) / 1000).toFixed(1)} s`;
      if (machine.state === 'ended' || performance.now() > deadline) {
        throw imageError('IMAGE_SMOKE_FAILED', `the machine is ${machine.state}: ${machine.message}`);
      }
      signal.throwIfAborted();
      const request = dto(WaitMachineRequest, { machineId, states: ['ready', 'ended'], waitMs: WAIT_SLICE_MS });
      machine = await this.machines.wait(request, { signal });
    }
  }

  private async exec(machineId: string, command: string): Promise<string> {
    const result = await this.machines.exec(dto(ExecRequest, { machineId, command, timeoutMs: CHECK_TIMEOUT_MS }));
    const output = `${result.stdout.text}${result.stderr.text}`.trim().slice(0, 1024);
    if (result.exitCode === 0) return output === '' ? 'exit code 0' : output;
    const how = result.timedOut ? 'timed out' : `exit code ${result.exitCode ?? result.signal}`;
    throw imageError('IMAGE_SMOKE_FAILED', `${how}${output === '' ? '' : `: ${output}`}`);
  }

  private async powerOff(machineId: string): Promise<string> {
    const request = dto(ShutdownMachineRequest, { machineId, waitMs: POWEROFF_WAIT_MS, by: 'smoke-gate' });
    const machine = await this.machines.shutdown(request);
    const verdict = machine.verdict?.class ?? `still ${machine.state}`;
    if (verdict === 'clean_poweroff') return machine.verdict?.account ?? verdict;
    throw imageError('IMAGE_SMOKE_FAILED', `the verdict is ${verdict}: ${machine.message}`);
  }
}

/** As one line for the guest's shell; arguments are quoted, so that none of them is read as syntax. */
const commandOf = ({ argv, shell }: RecipeCheck): string =>
  shell ?? (argv ?? []).map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

async function outcomeOf(name: string, work: () => Promise<string>): Promise<SmokeCheckView> {
  const shown = name.slice(0, 128);
  try {
    return { name: shown, outcome: 'passed', detail: await work() };
  } catch (e) {
    if (!isDomainError(e) || (e.fault === 'infra' && e.code !== 'IMAGE_SMOKE_FAILED')) throw e;
    return { name: shown, outcome: 'failed', detail: e.message.slice(0, 4096) };
  }
}
