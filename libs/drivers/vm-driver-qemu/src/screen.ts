import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { delay } from '@inquest/kernel';
import { instanceFile, pngSize, vmDriverError, type InputAction, type VmSpec } from '@inquest/vm-driver';
import type { JsonObject } from '@inquest/qmp';

/** A screen of 4096 x 4096 in 32 bits; QEMU compresses, so no honest picture has more. */
const PNG_MAX_BYTES = 4096 * 4096 * 4;
/** Largest value of an absolute axis (`INPUT_EVENT_ABS_MAX` of QEMU's include/ui/input.h). */
const AXIS_MAX = 32_767;
/**
 * Between two inputs. The virtual keyboard holds 64 events for a guest that is busy, and drops what comes beyond; a
 * person who types fast makes one every 50 ms.
 */
const INPUT_PAUSE_MS = 10;

/** Runs one command of the monitor; rejects with the errors of `VmHandle.pause`. */
export type RunCommand = (name: string, args: JsonObject, signal: AbortSignal) => Promise<void>;

/** The display and the input devices of one machine that has them. */
export class MachineScreen {
  private pictures = 0;

  constructor(
    private readonly spec: Pick<VmSpec, 'machineId' | 'directory'>,
    private readonly run: RunCommand,
  ) {}

  /** See `ScreenshotHandle.screenshot`. */
  async screenshot(signal: AbortSignal): Promise<Uint8Array> {
    const name = `screen-${++this.pictures}.png`;
    const file = path.join(instanceFile(this.spec.directory, 'vmm'), name);
    try {
      await this.run('screendump', { filename: file, format: 'png' }, signal);
      const png = await this.read(file);
      pngSize(png);
      return png;
    } finally {
      await rm(file, { force: true });
    }
  }

  /** See `InputHandle.sendInput`. */
  async send(actions: readonly InputAction[], signal: AbortSignal): Promise<void> {
    for (const [at, action] of actions.entries()) {
      if (at > 0) await delay(INPUT_PAUSE_MS, signal);
      for (const events of eventsOf(action)) await this.run('input-send-event', { events: [...events] }, signal);
    }
  }

  /** The monitor's user owns the directory: what stands there may be a link, a pipe or endless. */
  private async read(file: string): Promise<Uint8Array> {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
      (e: unknown) => {
        throw this.failed((e as Error).message, e);
      },
    );
    try {
      const status = await handle.stat();
      if (!status.isFile() || status.size > PNG_MAX_BYTES) throw this.failed('it is no regular file of a fit size');
      const content = Buffer.alloc(status.size);
      const { bytesRead } = await handle.read(content, 0, content.length, 0);
      return content.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  private failed(why: string, cause?: unknown) {
    const { machineId } = this.spec;
    return vmDriverError('VM_SCREENSHOT_FAILED', `no picture of machine ${machineId}: ${why}`, { machineId }, cause);
  }
}

/** What belongs together goes to the guest as one report of the device; a step of the wheel is a press and a release. */
function eventsOf(action: InputAction): readonly (readonly JsonObject[])[] {
  switch (action.kind) {
    case 'move':
      return [[axis('x', action.x), axis('y', action.y)]];
    case 'button':
      return [[button(action.button, action.isDown)]];
    case 'key':
      return [[{ type: 'key', data: { down: action.isDown, key: { type: 'qcode', data: action.key } } }]];
    case 'scroll': {
      const wheel = `wheel-${action.direction}`;
      return Array.from({ length: action.steps }).flatMap(() => [[button(wheel, true)], [button(wheel, false)]]);
    }
  }
}

const axis = (name: 'x' | 'y', fraction: number): JsonObject => ({
  type: 'abs',
  data: { axis: name, value: Math.round(Math.min(1, Math.max(0, fraction)) * AXIS_MAX) },
});

const button = (name: string, isDown: boolean): JsonObject => ({ type: 'btn', data: { down: isDown, button: name } });
