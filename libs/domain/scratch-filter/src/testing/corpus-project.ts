/** Kinds of scratch, as a reviewer tells them apart. The ids of the default rules begin with the same words. */
export const SCRATCH_FAMILIES = ['directory', 'secret', 'dropping', 'agent', 'throwaway'] as const;
export type ScratchFamily = (typeof SCRATCH_FAMILIES)[number];

/** New files that are scratch or secret, by kind; `session` and `project` are those that only the session or the project knows. */
export type HeldLabels = Readonly<Partial<Record<ScratchFamily | 'session' | 'project', readonly string[]>>>;

/** A project tree in which a person labelled every file that is not tracked. */
export interface CorpusProject {
  readonly name: string;
  /** Files of the last commit. */
  readonly tracked: readonly string[];
  /** New files that belong in the commit. */
  readonly keep: readonly string[];
  readonly hold: HeldLabels;
  /** What files hold, where it matters; all others are empty. */
  readonly contents?: Readonly<Record<string, string>>;
  /** `.inquest/scratch.yaml`, parsed. */
  readonly rules?: unknown;
  readonly forceInclude?: readonly string[];
  readonly sessionFiles?: readonly string[];
}
