/** A project tree in which a person labelled every file that is not tracked. */
export interface CorpusProject {
  readonly name: string;
  /** Files of the last commit. */
  readonly tracked: readonly string[];
  /** New files that belong in the commit. */
  readonly keep: readonly string[];
  /** New files that are scratch or secret. */
  readonly hold: readonly string[];
  /** What files hold, where it matters; all others are empty. */
  readonly contents?: Readonly<Record<string, string>>;
  /** `.inquest/scratch.yaml`, parsed. */
  readonly rules?: unknown;
  readonly forceInclude?: readonly string[];
  readonly sessionFiles?: readonly string[];
}
