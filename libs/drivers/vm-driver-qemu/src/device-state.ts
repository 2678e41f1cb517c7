import { once } from 'node:events';
import { chmod, chown, open, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { abortable, delay } from '@inquest/kernel';
import { isObject, type QmpClient, type QmpEvent } from '@inquest/qmp';
import { vmDriverError } from '@inquest/vm-driver';
import type { MonitorUser } from '@inquest/vm-instance';
import { STATE_FD } from './qemu-arguments';

/** The state of the devices is half a MiB, with a display some 5 MiB. */
const DEVICES_MAX_BYTES = 64 * 1024 * 1024;
/** A page of memory and what tells of it. */
const PAGE_BYTES = 4096;
const PAGE_HEADER_BYTES = 16;
/** The default would keep a machine that is copied paused for seconds. */
const BYTES_PER_SECOND = 2 ** 40;

/**
 * What is saved. A template's memory is in a file that its clones open, so it is left out of the state; a running
 * machine's memory is part of what is copied.
 */
export type StateScope = 'devices' | 'devices-and-memory';

/** Whoever saves and whoever loads have to agree. The end of the migration comes as an event. */
const capabilitiesOf = (scope: StateScope) => [
  { capability: 'x-ignore-shared', state: scope === 'devices' },
  { capability: 'events', state: true },
];

/** `MigrationStatus` of QEMU's qapi/migration.json: the migration is over, or there never was one. */
const MIGRATION_ENDS: readonly string[] = ['none', 'cancelled', 'completed', 'failed'];
/** A migration that was cancelled lets go within some ms. */
const CANCEL_PAUSE_MS = 20;

/** Where the device state of a machine goes. */
export interface StateTarget {
  /** Unix socket that is made for the transfer and is gone afterwards. */
  readonly socketPath: string;
  /** Must not exist. */
  readonly file: string;
  readonly user: MonitorUser | null;
  readonly scope: StateScope;
  readonly memoryMib: number;
}

/**
 * Saves the state of a stopped machine, whose disk is complete and unlocked until it runs again. Rejects with
 * `VM_CAPTURE_FAILED`, the monitor's errors, or `OPERATION_ABORTED`; a partial file may be left.
 */
export async function saveDeviceState(control: QmpClient, target: StateTarget, signal: AbortSignal): Promise<void> {
  const server = await listen(target);
  try {
    const received = receive(server, target, signal);
    received.catch(() => undefined);
    await control.execute('migrate-set-capabilities', { capabilities: capabilitiesOf(target.scope) }, { signal });
    await control.execute('migrate-set-parameters', { 'max-bandwidth': BYTES_PER_SECOND }, { signal });
    const migrated = migrationEnd(control, signal);
    await control.execute('migrate', { uri: `unix:${target.socketPath}` }, { signal });
    await Promise.all([migrated, received]);
  } finally {
    server.close();
    await rm(target.socketPath, { force: true });
  }
}

/** Loads the state that QEMU inherited as `STATE_FD`; the machine is stopped afterwards. A state that does not fit ends QEMU. */
export async function restoreDeviceState(control: QmpClient, scope: StateScope, signal: AbortSignal): Promise<void> {
  const loaded = migrationEnd(control, signal);
  // The monitor takes one after the other; with other capabilities than it was saved with a state does not load.
  await Promise.all([
    control.execute('migrate-set-capabilities', { capabilities: capabilitiesOf(scope) }, { signal }),
    control.execute('migrate-incoming', { uri: `fd:${STATE_FD}` }, { signal }),
    loaded,
  ]);
}

/**
 * Ends a migration that may be under way, and waits until it is over; one that has ended stays as it is. Rejects with
 * the monitor's errors and `OPERATION_ABORTED`.
 */
export async function endMigration(control: QmpClient, signal: AbortSignal): Promise<void> {
  await control.execute('migrate_cancel', {}, { signal });
  for (;;) {
    const answer = await control.execute('query-migrate', {}, { signal });
    const status = isObject(answer) ? answer['status'] : undefined;
    if (typeof status !== 'string' || MIGRATION_ENDS.includes(status)) return;
    await delay(CANCEL_PAUSE_MS, signal);
  }
}

/** Rejects when the migration fails, when the monitor is gone, or when `signal` aborts. */
async function migrationEnd(control: QmpClient, signal: AbortSignal): Promise<void> {
  let unsubscribe: () => void = () => undefined;
  // What an earlier migration had to say would be taken for the end of this one.
  control.onEvent(() => undefined)();
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

async function receive(server: Server, { file, scope, memoryMib }: StateTarget, signal: AbortSignal): Promise<void> {
  const [socket] = (await once(server, 'connection', { signal })) as [Socket];
  const maxBytes = DEVICES_MAX_BYTES + (scope === 'devices' ? 0 : memoryBytes(memoryMib));
  // Made before anything can fail: a stream that makes it itself may do so after it was taken away again.
  const handle = await open(file, 'wx', 0o400);
  await pipeline(socket, bounded(maxBytes), handle.createWriteStream({ flush: true }), { signal });
}

/** As many bytes as the memory can have in a saved state. */
const memoryBytes = (memoryMib: number): number => memoryMib * (1024 * 1024) * (1 + PAGE_HEADER_BYTES / PAGE_BYTES);

function bounded(maxBytes: number): Transform {
  let totalBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      totalBytes += chunk.length;
      if (totalBytes <= maxBytes) return done(null, chunk);
      done(captureFailed(`the device state has more than ${maxBytes} bytes`));
    },
  });
}

const captureFailed = (why: string) => vmDriverError('VM_CAPTURE_FAILED', `the device state was not saved: ${why}`);
