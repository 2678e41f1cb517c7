import type { VmDriver } from './vm-driver';
import type { VmHandle } from './vm-handle';
import type { VmSpec } from './vm-specification';

/** A machine's memory, device state and disk at one moment: read-only once made, shared by all its clones. */
export interface VmTemplate {
  /** Absolute path. Everything in it is the driver's; whoever removes it must know that no clone stands on it. */
  readonly directory: string;
  /** Shape that every clone has again: device state fits no other. */
  readonly cpus: number;
  readonly memoryMib: number;
  readonly hasScreen: boolean;
}

/**
 * Why a template cannot be used, as `flaw` in the details of `VM_TEMPLATE_UNFIT`. `incomplete`: it was never finished, or
 * is not there. `outdated`: whole, but of another driver, monitor or accelerator than this host has. `damaged`: not what
 * was made.
 */
export const TEMPLATE_FLAWS = ['incomplete', 'outdated', 'damaged'] as const;
export type TemplateFlaw = (typeof TEMPLATE_FLAWS)[number];

/** A clone takes shape, screen, kernel and disk from its template, which has no shares and no network. */
export type VmCloneSpec = Omit<VmSpec, 'cpus' | 'memoryMib' | 'hasScreen' | 'boot' | 'disk' | 'shares' | 'network'> & {
  readonly template: VmTemplate;
};

/** What a clone of `template` has of a specification: all that is not the template's to say. */
export function cloneSpecOf(spec: VmSpec, template: VmTemplate): VmCloneSpec {
  const { cpus: _cpus, memoryMib: _memoryMib, hasScreen: _hasScreen, boot: _boot, disk: _disk, ...rest } = spec;
  const { shares: _shares, network: _network, ...cloneSpec } = rest;
  return { ...cloneSpec, template };
}

/** A driver that can freeze a machine's memory and start others from it. */
export interface TemplateDriver extends VmDriver {
  /**
   * Turns a machine of this driver that was started or cloned as `isCapturable`, and whose guest agent answers, into
   * a template in `directory`, and ends it; its instance directory stays until `destroyInstance`. `directory` must not
   * exist and its parent must, on the file system of the instances root.
   *
   * On rejection `directory` is as it was, and the machine may have been ended: `VM_MACHINE_UNCAPTURABLE` (nothing was
   * done), `VM_TEMPLATE_EXISTS` (nothing was done), `VM_CAPTURE_FAILED`, or `OPERATION_ABORTED`.
   */
  captureTemplate(machine: VmHandle, directory: string, signal: AbortSignal): Promise<VmTemplate>;

  /**
   * The template in a directory, as an earlier process may have left it. Rejects with `VM_TEMPLATE_UNFIT` when there is
   * none, when it is half-made, when a file of it is not the one that was recorded, or when this host's monitor cannot
   * continue it, with the `TemplateFlaw` in its details; changes nothing.
   */
  openTemplate(directory: string, signal: AbortSignal): Promise<VmTemplate>;

  /**
   * Like `start`, with the same promises, but the guest continues where the template stopped, and it resolves when the
   * guest agent has answered and has given the guest an identity of its own: random numbers, clock (`rtcBaseMs` or
   * now), host name and machine id. No two clones share any of them. The template is not written to. Rejects also with
   * `VM_TEMPLATE_UNFIT`; `limits.startTimeoutMs` includes the agent's answer.
   */
  clone(spec: VmCloneSpec, signal: AbortSignal): Promise<VmHandle>;
}
