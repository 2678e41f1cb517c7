import type { TemplateDriver } from '../template-driver';
import type { VmDriver } from '../vm-driver';
import type { VmExit, VmHandle } from '../vm-handle';
import type { VmSpec } from '../vm-specification';

/** How a guest is made to end by the conformance suite. */
export type HarnessEnding = 'poweroff' | 'reset' | 'panic' | 'killed';

/** A machine of another process. */
export interface MachineElsewhere {
  readonly pid: number;
  /** Kills the process without a word; the machine runs on. */
  die(): Promise<void>;
  /** The same, and makes the guest end by itself when nobody is there any more. Resolves when the monitor is gone. */
  endAfterDeath(ending: 'poweroff'): Promise<void>;
}

/** What the conformance suite needs to know about one driver. */
export interface VmDriverHarness {
  readonly driver: VmDriver;
  /** A driver as a later service would make it: same instances root, no knowledge of the machines of `driver`. */
  laterDriver(): VmDriver;
  /** A specification that starts, with directories of its own. */
  makeSpec(overrides?: Partial<VmSpec>): VmSpec;
  /** Names of what exists of an instance on the host: processes, sockets, files. Empty = nothing is left. */
  leftovers(directory: string): Promise<readonly string[]>;
  /** Makes a guest that is up end in this way, from the inside (or, for `killed`, from outside the driver). */
  end(machine: VmHandle, ending: HarnessEnding): Promise<void>;
  /** How long a guest may take until its agent answers. */
  readonly guestUpMs: number;
  /** False for a monitor that reports no events: then there are none in the evidence either. Default: true. */
  readonly hasEvents?: boolean;
  /** How the monitor of a guest that powers itself off ends. Default: by itself, with code 0. */
  readonly poweroffExit?: Pick<VmExit, 'code' | 'signal'>;
  /**
   * Starts a machine in another process, as an earlier service has, and resolves when its guest is up. Left out for a driver
   * without adoption.
   */
  startElsewhere?(spec: VmSpec): Promise<MachineElsewhere>;
  /** Ends and removes everything. */
  dispose(): Promise<void>;
}

/** What the suite for templates needs besides. */
export interface TemplateDriverHarness extends VmDriverHarness {
  readonly driver: TemplateDriver;
  laterDriver(): TemplateDriver;
  /** A path for a template, in a directory that exists. */
  makeTemplatePath(): string;
  /** Changes a file of a template, as nobody may. */
  damageTemplate(directory: string): Promise<void>;
}
