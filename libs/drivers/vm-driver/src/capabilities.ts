import { vmDriverError } from './errors';
import type { VmDriver } from './vm-driver';
import type { VmHandle } from './vm-handle';
import type { TemplateDriver } from './template-driver';

/** A machine whose display can be photographed from the host. */
export interface ScreenshotHandle extends VmHandle {
  /** The display as a PNG. Rejects as `pause` does. */
  screenshot(signal: AbortSignal): Promise<Uint8Array>;
}

/** One input from the host side. Positions are fractions of the display, 0 to 1; keys are QEMU key codes such as `ret`. */
export type InputAction =
  | { readonly kind: 'move'; readonly x: number; readonly y: number }
  | { readonly kind: 'button'; readonly button: 'left' | 'middle' | 'right'; readonly isDown: boolean }
  | { readonly kind: 'key'; readonly key: string; readonly isDown: boolean }
  | { readonly kind: 'scroll'; readonly direction: 'up' | 'down'; readonly steps: number };

/** A machine whose pointer and keyboard the host can drive. */
export interface InputHandle extends VmHandle {
  /** Sends the actions in order. Rejects as `pause` does; the actions before the failing one were sent. */
  sendInput(actions: readonly InputAction[], signal: AbortSignal): Promise<void>;
}

export const supportsTemplates = (driver: VmDriver): driver is TemplateDriver => driver.capabilities.templates;

export const supportsScreenshots = (machine: VmHandle): machine is ScreenshotHandle => machine.capabilities.screenshot;

export const supportsInput = (machine: VmHandle): machine is InputHandle => machine.capabilities.input;

/** The driver as a template driver, or `VM_CAPABILITY_MISSING`. */
export function requireTemplates(driver: VmDriver): TemplateDriver {
  if (supportsTemplates(driver)) return driver;
  throw vmDriverError('VM_CAPABILITY_MISSING', `the ${driver.name} driver cannot make or clone templates`);
}

/** The machine as one with a display, or `VM_CAPABILITY_MISSING`. */
export function requireScreenshots(machine: VmHandle): ScreenshotHandle {
  if (supportsScreenshots(machine)) return machine;
  throw missing(machine, 'screenshot');
}

/** The machine as one with host-driven input, or `VM_CAPABILITY_MISSING`. */
export function requireInput(machine: VmHandle): InputHandle {
  if (supportsInput(machine)) return machine;
  throw missing(machine, 'input');
}

const missing = (machine: VmHandle, capability: string) =>
  vmDriverError(
    'VM_CAPABILITY_MISSING',
    `${capability} is not supported by the image of machine ${machine.machineId}`,
    {
      machineId: machine.machineId,
      capability,
    },
  );
