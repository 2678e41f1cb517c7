import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { findVhostDeviceVsock, VSOCK_CACHE } from '../../../../../../tools/vsock/find-vhost-device-vsock.mjs';
import { qemuArguments } from './qemu-arguments.mjs';
import { StandInError } from './stand-in-error.mjs';

/** Descriptor of QEMU's monitor in the child: the first after the standard three. */
const MONITOR_FD = 3;
const SOCKET_TIMEOUT_MS = 20_000;

/**
 * Runs the guest of a configuration that was read. Returns when the guest has reset itself; a guest that has powered
 * itself off keeps it waiting, as it does Firecracker. The processes it starts die with this one.
 *
 * @param {import('./configuration.mjs').Configuration} configuration
 * @returns {Promise<void>}
 * @throws {StandInError} when a program is missing or ends
 */
export async function runGuest(configuration) {
  const children = [];
  try {
    const backendSocket =
      configuration.vsock === undefined ? undefined : await startVsock(configuration.vsock, children);
    await runQemu(qemuArguments(configuration, { backendSocket, monitorFd: MONITOR_FD }), children);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  }
}

/** Serves the hybrid vsock, and gives the socket that QEMU gets its device from. */
async function startVsock({ guest_cid: cid, uds_path: hybridSocket }, children) {
  const program = await findVhostDeviceVsock(VSOCK_CACHE);
  if (program === undefined) throw new StandInError('vhost-device-vsock is neither on the PATH nor in the cache');
  const backendSocket = path.join(path.dirname(hybridSocket), '.vhost.sock');
  await rm(backendSocket, { force: true });
  const options = `guest-cid=${cid},socket=${backendSocket},uds-path=${hybridSocket}`;
  // Its log would be taken for the monitor's own error output.
  const child = start(program, ['--vm', options], { stdio: ['ignore', 'ignore', 'ignore'] }, children);
  await Promise.race([socketAppears(backendSocket), failed(child, 'vhost-device-vsock')]);
  return backendSocket;
}

async function runQemu(args, children) {
  const qemu = start('qemu-system-x86_64', args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] }, children);
  const monitor = qemu.stdio[MONITOR_FD];
  monitor.on('error', () => {});
  monitor.write('{"execute":"qmp_capabilities"}\n');
  await Promise.race([guestResets(monitor), failed(qemu, 'QEMU')]);
}

/** A guest that powers itself off also shuts down, with another reason, and only stops QEMU's processors. */
function guestResets(monitor) {
  return new Promise((resolve) => {
    const lines = createInterface({ input: monitor });
    lines.on('line', (line) => {
      const { event, data } = JSON.parse(line);
      if (event === 'SHUTDOWN' && data.reason === 'guest-reset') resolve();
    });
    // The monitor ends with QEMU, whose exit says why.
    lines.on('error', () => {});
  });
}

/** In this process's group; killed by the kernel when this process dies. */
function start(program, args, options, children) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], options);
  children.push(child);
  return child;
}

async function failed(child, name) {
  const [code, signal] = await once(child, 'exit');
  throw new StandInError(`${name} ended with ${signal ?? code}`);
}

function socketAppears(file) {
  return new Promise((resolve, reject) => {
    const finish = (act) => {
      watcher.close();
      clearTimeout(timer);
      act();
    };
    const look = () => existsSync(file) && finish(resolve);
    const watcher = watch(path.dirname(file), look);
    const timer = setTimeout(
      () => finish(() => reject(new StandInError(`vhost-device-vsock made no ${file} in time`))),
      SOCKET_TIMEOUT_MS,
    );
    look();
  });
}
