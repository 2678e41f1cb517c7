import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chmod, chown, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { abortable } from '@inquest/kernel';
import type { QmpClient, QmpEvent } from '@inquest/qmp';
import { vmDriverError } from '@inquest/vm-driver';
import { STATE_FD } from './qemu-arguments';
import type { QemuUser } from './qemu-options';

/** The state of the devices is half a MiB, with a display some 5 MiB; memory is not in it. */
const STATE_MAX_BYTES = 64 * 1024 * 1024;

/** Memory in a file is not copied into the state; the end of the migration comes as an event. */
const CAPABILITIES = ['x-ignore-shared', 'events'].map((capability) => ({ capability, state: true }));

/** Where the device state of a machine goes. */
export interface StateTarget {
  /** Unix socket that is made for the transfer and is gone afterwards. */
  readonly socketPath: string;
  /** Must not exist. */
  readonly file: string;
  readonly user: QemuUser | null;
}

/**
 * Saves the state of a stopped machine, whose disk is complete and unlocked from then on. The machine cannot run any
 * more. Rejects with `VM_CAPTURE_FAILED`, the monitor's errors, or `OPERATION_ABORTED`; a partial file may be left.
 */
export async function saveDeviceState(control: QmpClient, target: StateTarget, signal: AbortSignal): Promise<void> {
  const server = await listen(target);
  try {
    const received = receive(server, target.file, signal);
    await control.execute('migrate-set-capabilities', { capabilities: CAPABILITIES }, { signal });
    const migrated = migrationEnd(control, signal);
    await control.execute('migrate', { uri: `unix:${target.socketPath}` }, { signal });
    await Promise.all([migrated, received]);
  } finally {
    server.close();
    await rm(target.socketPath, { force: true });
  }
}

/** Loads the state that QEMU inherited as `STATE_FD`; the machine is stopped afterwards. A state that does not fit ends QEMU. */
export async function restoreDeviceState(control: QmpClient, signal: AbortSignal): Promise<void> {
  await control.execute('migrate-set-capabilities', { capabilities: CAPABILITIES }, { signal });
  const loaded = migrationEnd(control, signal);
  await control.execute('migrate-incoming', { uri: `fd:${STATE_FD}` }, { signal });
  await loaded;
}

/** Rejects when the migration fails, when the monitor is gone, or when `signal` aborts. */
async function migrationEnd(control: QmpClient, signal: AbortSignal): Promise<void> {
  let unsubscribe: () => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    const onEvent = ({ name, data }: QmpEvent): void => {
      if (name !== 'MIGRATION') return;
      const { status } = data;
      if (status === 'completed') resolve();
      if (status === 'failed' || status === 'cancelled') reject(captureFailed(`the migration ${status}`));
    };
    unsubscribe = control.onEvent(onEvent);
    void control.closed.then(() => reject(captureFailed('the monitor went away during the migration')));
  });
  try {
    await abortable(ended, signal, 'the migration');
  } finally {
    unsubscribe();
  }
}

/** Only the monitor's user may connect. */
async function listen({ socketPath, user }: StateTarget): Promise<Server> {
  const server = createServer();
  server.maxConnections = 1;
  server.listen(socketPath);
  await once(server, 'listening');
  try {
    await chmod(socketPath, 0o600);
    if (user !== null) await chown(socketPath, user.uid, user.gid);
    return server;
  } catch (e) {
    server.close();
    throw e;
  }
}

async function receive(server: Server, file: string, signal: AbortSignal): Promise<void> {
  const [socket] = (await once(server, 'connection', { signal })) as [Socket];
  await pipeline(socket, bounded(), createWriteStream(file, { flags: 'wx', mode: 0o400, flush: true }), { signal });
}

function bounded(): Transform {
  let totalBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      totalBytes += chunk.length;
      if (totalBytes <= STATE_MAX_BYTES) return done(null, chunk);
      done(captureFailed(`the device state has more than ${STATE_MAX_BYTES} bytes`));
    },
  });
}

const captureFailed = (why: string) => vmDriverError('VM_CAPTURE_FAILED', `the device state was not saved: ${why}`);
