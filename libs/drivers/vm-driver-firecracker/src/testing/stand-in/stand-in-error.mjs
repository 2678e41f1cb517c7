/** Firecracker's FcExitCode: what it ends with. */
export const EXIT = { genericError: 1, badConfiguration: 152, argumentParsing: 153 };

/** A reason to end, with the exit code that Firecracker would end with. */
export class StandInError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode]
   */
  constructor(message, exitCode = EXIT.genericError) {
    super(message);
    this.exitCode = exitCode;
  }
}
