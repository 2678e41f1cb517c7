import { Injectable } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import {
  ScreenshotView,
  vmError,
  type ClickRequest,
  type IncarnationRequest,
  type InputView,
  type PressKeysRequest,
  type ScrollRequest,
  type TypeTextRequest,
} from '@inquest/contracts-vm';
import { hasCode, isDomainError, kernelError } from '@inquest/kernel';
import {
  pngSize,
  requireInput,
  requireScreenshots,
  strokeOfCombination,
  strokesOfText,
  vmDriverError,
  type InputAction,
  type KeyStroke,
  type ScreenSize,
  type VmHandle,
} from '@inquest/vm-driver';
import { LiveMachines } from '../guest/live-machines';
import type { LiveMachine } from '../machines/live-machine';
import { Pictures } from './pictures';
import { withoutText } from './without-text';

const SCREENSHOT_TIMEOUT_MS = 8_000;
/** The longest text, at the pace of the keyboard and of a busy host. */
const INPUT_TIMEOUT_MS = 90_000;

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** A pixel, from the upper left corner. */
interface Position {
  readonly x: number;
  readonly y: number;
}

/**
 * The screens of machines, and their pointers and keyboards, driven from the host: nothing in the guest has to help.
 * Every verb throws `MACHINE_CAPABILITY_MISSING` for a machine without a screen, and what `LiveMachines.require` throws.
 */
@Injectable()
export class ScreensService {
  constructor(
    private readonly machines: LiveMachines,
    private readonly pictures: Pictures,
  ) {}

  /** What the screen shows now, to be fetched within a minute. */
  screenshot(request: IncarnationRequest): Promise<ScreenshotView> {
    return this.with(request, async ({ handle }) => {
      const png = await photograph(handle);
      const { width, height } = pngSize(png);
      const { machineId } = handle;
      return dto(ScreenshotView, { machineId, width, height, sizeBytes: png.length, picture: this.pictures.hold(png) });
    });
  }

  /** Throws `VM_INPUT_INVALID` for a pixel that the screen does not have; nothing was sent then. */
  click({ x, y, button, times, ...request }: ClickRequest): Promise<InputView> {
    return this.with(request, async (machine) => {
      const move = await moveTo(machine.handle, { x, y });
      const clicks = Array.from({ length: times }).flatMap((): InputAction[] => [
        { kind: 'button', button, isDown: true },
        { kind: 'button', button, isDown: false },
      ]);
      const reason = `${button} button at ${x},${y}, ${count(times, 'time')}`;
      return send(machine, [move, ...clicks], { action: 'click', by: request.by, reason });
    });
  }

  /** Throws `VM_INPUT_INVALID` for a character that no key types; nothing was sent then. */
  typeText({ text, ...request }: TypeTextRequest): Promise<InputView> {
    return this.with(request, (machine) => {
      const strokes = strokesOfText(text);
      const reason = count(strokes.length, 'character');
      return send(machine, strokes.flatMap(pressed), { action: 'type_text', by: request.by, reason });
    });
  }

  /** Throws `VM_INPUT_INVALID` for what is no key; nothing was sent then. */
  pressKeys({ keys, ...request }: PressKeysRequest): Promise<InputView> {
    return this.with(request, (machine) => {
      const inputs = pressed(strokeOfCombination(keys));
      return send(machine, inputs, { action: 'press_keys', by: request.by, reason: withoutText(keys) });
    });
  }

  /** Throws `VM_INPUT_INVALID` for a pixel that the screen does not have, and `INPUT_INVALID` for half of one. */
  scroll({ x, y, direction, steps, ...request }: ScrollRequest): Promise<InputView> {
    return this.with(request, async (machine) => {
      const wheel: InputAction = { kind: 'scroll', direction, steps };
      const action = { action: 'scroll', by: request.by, reason: `${direction}, ${count(steps, 'step')}` } as const;
      if (x === null && y === null) return send(machine, [wheel], action);
      if (x === null || y === null) throw kernelError('INPUT_INVALID', 'x and y are given together or not at all');
      const move = await moveTo(machine.handle, { x, y });
      return send(machine, [move, wheel], { ...action, reason: `${action.reason} at ${x},${y}` });
    });
  }

  private async with<T>(request: IncarnationRequest, verb: (machine: LiveMachine) => Promise<T>): Promise<T> {
    const machine = await this.machines.require(request);
    return this.machines.run(machine, async () => {
      try {
        return await verb(machine);
      } catch (e) {
        if (!hasCode(e, 'VM_CAPABILITY_MISSING') || !isDomainError(e)) throw e;
        throw vmError('MACHINE_CAPABILITY_MISSING', e.message, e.details, e);
      }
    });
  }
}

const photograph = (handle: VmHandle): Promise<Uint8Array> =>
  requireScreenshots(handle).screenshot(AbortSignal.timeout(SCREENSHOT_TIMEOUT_MS));

/** On record before the first of it is sent; a machine that takes no input is asked for nothing. */
async function send(
  machine: LiveMachine,
  actions: readonly InputAction[],
  record: Parameters<LiveMachine['recordInput']>[0],
): Promise<InputView> {
  const { handle } = machine;
  const screen = requireInput(handle);
  await machine.recordInput(record);
  await screen.sendInput(actions, AbortSignal.timeout(INPUT_TIMEOUT_MS));
  return { machineId: handle.machineId, inputs: actions.length };
}

/** The middle of that pixel, on the screen as large as it is now. */
async function moveTo(handle: VmHandle, { x, y }: Position): Promise<InputAction> {
  const size = pngSize(await photograph(handle));
  requireOnScreen({ x, y }, size);
  return { kind: 'move', x: (x + 0.5) / size.width, y: (y + 0.5) / size.height };
}

function requireOnScreen({ x, y }: Position, { width, height }: ScreenSize): void {
  if (x < width && y < height) return;
  const message = `(${x}, ${y}) is not on the screen, which has ${width} x ${height} pixels`;
  throw vmDriverError('VM_INPUT_INVALID', message, { x, y, width, height });
}

/** Down in the order of the stroke, up in the opposite one. */
const pressed = (stroke: KeyStroke): InputAction[] => [
  ...stroke.map((key): InputAction => ({ kind: 'key', key, isDown: true })),
  ...stroke.toReversed().map((key): InputAction => ({ kind: 'key', key, isDown: false })),
];
