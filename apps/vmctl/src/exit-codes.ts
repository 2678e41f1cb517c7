/**
 * Exit statuses of vmctl itself. `vmctl run` passes the command's own status through while the machine lives; how the
 * statuses 83 to 89 follow from a verdict is `exitStatusFor` of the verdict engine.
 */
export const EXIT = {
  ok: 0,
  /** The command failed: the error was printed. */
  failed: 1,
  /** Wrong usage: the arguments were not understood, and nothing was done. */
  usage: 2,
  /** The platform is not running or does not answer. */
  platformDown: 3,
  /** A shell's statuses for what a signal ended: 128 and its number. */
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;
