/**
 * Exit statuses of vmctl itself. `vmctl run` passes the command's own status through while the machine lives; how the
 * statuses 83 to 89 follow from a verdict is `exitStatusFor` of the verdict engine.
 */
export const EXIT = {
  ok: 0,
  /** The command failed: the error was printed. */
  failed: 1,
  /** Wrong usage (also what the option parser uses). */
  usage: 2,
  /** The platform is not running or does not answer. */
  platformDown: 3,
} as const;
