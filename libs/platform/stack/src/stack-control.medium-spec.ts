import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'nats';
import { Client } from 'pg';
import { isAlive, killAndObserve, type ProcessIdentity } from '@inquest/process';
import { stackStatus, startStack, stopStack } from './stack-control';
import type { ServiceDeclaration, StackDeclaration } from './service-declaration';
import { stackLayout } from './stack-layout';
import type { StackState } from './stack-state';

/** A service as the supervisor sees one: it listens, says so in its ready file, and ends on SIGTERM. */
const SERVICE = `
  const { createServer } = require('node:http');
  const { writeFileSync, renameSync } = require('node:fs');
  const server = createServer((request, response) => response.end(JSON.stringify(process.env)));
  process.on('SIGTERM', () => process.exit(0));
  server.listen(Number(process.env.INQUEST_HTTP_PORT), '127.0.0.1', () => {
    const { port } = server.address();
    const file = process.env.INQUEST_READY_FILE;
    writeFileSync(file + '.tmp', JSON.stringify({ pid: process.pid, port, url: 'http://127.0.0.1:' + port }));
    renameSync(file + '.tmp', file);
  });`;
const BROKEN_SERVICE = `console.error('no such table'); process.exit(3);`;

let directory: string;
let home: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'inquest-stack-'));
  await chmod(directory, 0o711);
  home = path.join(directory, 'home');
});
afterEach(async () => {
  await stopStack(home);
  await rm(directory, { recursive: true, force: true });
});

async function declare(
  sources: Record<string, string>,
  after: Record<string, string[]> = {},
): Promise<StackDeclaration> {
  const services: ServiceDeclaration[] = [];
  for (const [name, source] of Object.entries(sources)) {
    const entry = path.join(directory, `${name}.js`);
    await writeFile(entry, source);
    services.push({ name, entry, env: {}, urlEnv: {}, after: after[name] ?? [], platform: { scope: 'vm' } });
  }
  return { services, nodeId: 'local', pgBin: process.env['PG_BIN'] ?? null };
}

const identities = (state: StackState): ProcessIdentity[] => [
  state.supervisor,
  ...state.services.flatMap(({ process }) => (process === null ? [] : [process])),
];

const aliveCount = async (state: StackState): Promise<number> =>
  (await Promise.all(identities(state).map(isAlive))).filter((alive) => alive).length;

/** The supervisor writes its record; nothing announces it to another process. */
async function untilStatus(accept: (state: StackState) => boolean): Promise<StackState> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(20)) {
    const { state } = await stackStatus(home);
    if (state !== null && accept(state)) return state;
  }
  throw new Error(`not reached: ${JSON.stringify(await stackStatus(home))}`);
}

const serviceOf = (state: StackState, name: string) => {
  const found = state.services.find((service) => service.name === name);
  if (found?.process == null) throw new Error(`${name} does not run`);
  return { ...found, process: found.process };
};

describe('startStack', () => {
  it('starts NATS, Postgres and the services in order, and stopStack leaves no process and no run file', async () => {
    const declaration = await declare({ 'vm-service': SERVICE, gateway: SERVICE }, { gateway: ['vm-service'] });
    const order: string[] = [];
    const state = await startStack({
      home,
      declaration,
      onProgress: ({ services }) => {
        for (const { name, state: at } of services) if (at === 'running' && !order.includes(name)) order.push(name);
      },
    });
    expect(order.indexOf('gateway')).toBe(3);
    expect(await stackStatus(home)).toMatchObject({ isUp: true, isSupervised: true });
    expect(await aliveCount(state)).toBe(5);

    const env = (await (await fetch(state.gatewayUrl as string)).json()) as Record<string, string>;
    expect(env).toMatchObject({ INQUEST_HOME: home, INQUEST_NODE_ID: 'local', INQUEST_HTTP_HOST: '127.0.0.1' });
    const nats = await connect({
      servers: env['INQUEST_NATS_URL'] as string,
      user: env['INQUEST_NATS_USER'] as string,
      pass: env['INQUEST_NATS_PASSWORD'] as string,
    });
    await nats.close();
    const client = new Client({ connectionString: env['INQUEST_DATABASE_URL'] as string });
    await client.connect();
    await client.end();

    expect(await stopStack(home)).toEqual({ wasUp: true, leftovers: [] });
    expect(await aliveCount(state)).toBe(0);
    await expect(stat(stackLayout(home).run)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await stopStack(home)).toEqual({ wasUp: false, leftovers: [] });
  });

  it('keeps every secret in a file that only its owner reads, and out of process arguments and logs', async () => {
    const state = await startStack({ home, declaration: await declare({ gateway: SERVICE }) });
    const layout = stackLayout(home);
    for (const file of [
      layout.token,
      layout.urlSigningKey,
      layout.postgresPassword,
      layout.natsPasswords,
      layout.state,
    ]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
    const secrets = [await readFile(layout.token, 'utf8'), await readFile(layout.postgresPassword, 'utf8')];
    const texts = [await readFile(path.join(layout.logs, 'supervisor.log'), 'utf8')];
    for (const { pid } of identities(state)) texts.push(await readFile(`/proc/${pid}/cmdline`, 'utf8'));
    for (const secret of secrets) expect(texts.join('\n')).not.toContain(secret.trim());
  });

  it('says that it is up already to a second start, and leaves the first alone', async () => {
    const declaration = await declare({ gateway: SERVICE });
    const outcomes = await Promise.allSettled([startStack({ home, declaration }), startStack({ home, declaration })]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(rejected).toMatchObject({ reason: { code: 'STACK_ALREADY_UP' } });
    expect(await stackStatus(home)).toMatchObject({ isUp: true });
  });

  it('stops everything again and names the log when a service does not start', async () => {
    const declaration = await declare({ 'vm-service': SERVICE, gateway: BROKEN_SERVICE });
    let last: StackState | null = null;
    const attempt = startStack({ home, declaration, onProgress: (state) => (last = state) });
    await expect(attempt).rejects.toMatchObject({
      code: 'STACK_START_FAILED',
      message: expect.stringMatching(
        /gateway did not become ready: it ended with 3; see .*gateway\.log\nno such table/,
      ) as string,
    });
    expect(last).not.toBeNull();
    expect(await stackStatus(home)).toMatchObject({ isUp: false, state: null });
    expect(await readFile(path.join(stackLayout(home).logs, 'gateway.log'), 'utf8')).toContain('no such table');
    expect(await stopStack(home)).toEqual({ wasUp: false, leftovers: [] });
  });

  it('leaves nothing running when it is cancelled half way', async () => {
    const controller = new AbortController();
    const attempt = startStack({
      home,
      declaration: await declare({ gateway: SERVICE }),
      signal: controller.signal,
      onProgress: ({ services }) => {
        if (services.some(({ process }) => process !== null)) controller.abort();
      },
    });
    await expect(attempt).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(await stackStatus(home)).toMatchObject({ isSupervised: false, state: null });
    expect(await stopStack(home)).toEqual({ wasUp: false, leftovers: [] });
  });
});

describe('the supervisor', () => {
  it.each(['gateway', 'nats-server', 'postgres'])(
    'starts %s again, at the same URL, when it is killed',
    async (name) => {
      const before = await startStack({ home, declaration: await declare({ gateway: SERVICE }) });
      const victim = serviceOf(before, name);
      await killAndObserve(victim.process, { graceMs: 0 });
      const after = await untilStatus(({ services }) =>
        services.some((service) => service.name === name && service.restarts > 0 && service.state === 'running'),
      );
      expect(serviceOf(after, name)).toMatchObject({ url: victim.url, lastFailure: 'ended with SIGKILL' });
    },
  );

  it('takes its children down when it is killed; stopStack then clears up, and the next start works', async () => {
    const declaration = await declare({ gateway: SERVICE });
    const state = await startStack({ home, declaration });
    await killAndObserve(state.supervisor, { graceMs: 0 });
    expect(await stackStatus(home)).toMatchObject({ isUp: false, isSupervised: false });
    expect(await stopStack(home)).toMatchObject({ wasUp: true });
    expect(await aliveCount(state)).toBe(0);
    const again = await startStack({ home, declaration });
    expect(await aliveCount(again)).toBe(4);
  });

  it('keeps token and data over a restart', async () => {
    const declaration = await declare({ gateway: SERVICE });
    await startStack({ home, declaration });
    const token = await readFile(stackLayout(home).token, 'utf8');
    await stopStack(home);
    await startStack({ home, declaration });
    expect(await readFile(stackLayout(home).token, 'utf8')).toBe(token);
  });
});
