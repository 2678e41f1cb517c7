import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** How long what a script started may take to end after the script; then it is killed. */
const GROUP_GRACE_MS = 30_000;
const LOOK_EVERY_MS = 50;

/**
 * Runs a Node.js script on this terminal, in a process group of its own, and gives its exit status. An interruption
 * reaches the whole group exactly once; nothing of the group is left when this resolves.
 * @param {string} script
 * @param {string[]} args
 * @param {import('./interruption.mjs').Interruption | null} interruption null: it is not to be interrupted
 * @returns {Promise<number>}
 */
export async function runScript(script, args, interruption) {
  if (interruption !== null && interruption.status !== null) return interruption.status;
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit', detached: true });
  if (interruption !== null) interruption.onSignal = (signal) => signalGroup(child.pid, signal);
  const [status] = await once(child, 'exit');
  if (interruption !== null) interruption.onSignal = null;
  await endGroup(child.pid);
  return status ?? 1;
}

/** False when the group is gone. */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (e) {
    // EPERM: what is left runs as somebody else, such as apt-get under sudo, which ends it itself.
    return e.code === 'EPERM';
  }
}

async function endGroup(pid) {
  const deadline = performance.now() + GROUP_GRACE_MS;
  while (signalGroup(pid, 0)) {
    if (performance.now() > deadline) {
      signalGroup(pid, 'SIGKILL');
      return;
    }
    await pause(LOOK_EVERY_MS);
  }
}
