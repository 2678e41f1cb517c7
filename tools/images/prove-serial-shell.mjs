const MACHINE = 'prove-serial';
/** The guest agent is the parent of each command. */
const KILL_AGENT = 'kill -9 $PPID';
/** It is known by its first argument. */
const IS_AGENT_GONE = "! pgrep -f '^@inquest-agent'";
/** Of a shell of root, with both its streams, that gives the command's own status. */
const IS_ROOT = 'test "$(id -u)" = 0 && test -t 1';

/**
 * Starts a machine on an image, kills its guest agent, and proves that commands by the second serial port still run, as
 * root, with the status that they end with, and that the machine can still be powered off by one.
 *
 * @param {{ image: string, vmctl: (...args: string[]) => Promise<unknown> }} options
 * @throws {Error} when the agent does not die, no shell answers, or a status is wrong
 */
export async function proveSerialShell({ image, vmctl }) {
  const bySerial = (command) => vmctl('run', '--via', 'serial', MACHINE, command);
  await vmctl('new', image, '--name', MACHINE);
  try {
    await bySerial(IS_ROOT);
    await mustFail('the agent that was to be killed', () => vmctl('run', MACHINE, KILL_AGENT));
    await bySerial(IS_AGENT_GONE);
    await bySerial('echo by serial; uname -r');
    await mustFail('a command that fails', () => bySerial('exit 7'));
    await bySerial('exit 0');
  } finally {
    await vmctl('rm', MACHINE);
  }
}

async function mustFail(what, run) {
  const failed = await run().then(
    () => false,
    () => true,
  );
  if (!failed) throw new Error(`${what} answered as if nothing had happened`);
}
