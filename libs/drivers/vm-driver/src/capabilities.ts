import { vmDriverError } from './errors';
import type { VmDriver } from './vm-driver';
import type { VmHandle } from './vm-handle';
import type { VmSpec } from './vm-specification';
import type { TemplateDriver, VmCloneSpec } from './template-driver';

/** A machine whose display can be photographed from the host. */
export interface ScreenshotHandle extends VmHandle {
  /** The display as a PNG. Rejects as `pause` does, and with `VM_SCREENSHOT_FAILED` when there is no picture to be had. */
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

/** A driver whose machines can read directories of the host. */
export interface ShareDriver extends VmDriver {
  /**
   * Rejects with `VM_FILE_UNREADABLE`, naming what is in the way, when machines could not read a directory; a start with
   * it would. What is below the directory is not looked at.
   */
  checkShare(directory: string): Promise<void>;
}

/** A copy takes shape, screen, kernel and disk from its source, which has no shares and no network. */
export type VmCopySpec = Omit<VmCloneSpec, 'template' | 'isCapturable'>;

/** What a copy has of a specification: all that is not its source's to say. */
export function copySpecOf(spec: VmSpec): VmCopySpec {
  const { cpus: _cpus, memoryMib: _memoryMib, hasScreen: _hasScreen, boot: _boot, disk: _disk, ...rest } = spec;
  const { shares: _shares, network: _network, isCapturable: _isCapturable, ...copySpec } = rest;
  return copySpec;
}

/** A driver that can copy a machine while it runs. */
export interface CopyDriver extends VmDriver {
  /**
   * Like `TemplateDriver.clone`, but of a machine of this driver as it is now: what ran in its guest runs on in both. The
   * source is paused meanwhile and goes on afterwards, also when the copy fails. Rejects also with
   * `VM_MACHINE_UNCAPTURABLE` for a machine that has ended, has shares or a network, or writes its disk without an
   * overlay; nothing was done then.
   */
  copy(source: VmHandle, spec: VmCopySpec, signal: AbortSignal): Promise<VmHandle>;
}

export const supportsCopies = (driver: VmDriver): driver is CopyDriver => driver.capabilities.copies === true;

export const supportsShares = (driver: VmDriver): driver is ShareDriver => driver.capabilities.shares === true;

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
