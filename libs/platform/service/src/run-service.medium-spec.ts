import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CleanupStack, withDeadline } from '@inquest/kernel';
import { spawnOwned, type Environment, type OwnedProcess } from '@inquest/process';
import { eventually, startNats, tempDir, type NatsFixture, type TempDir } from '@inquest/testing';

/** The child runs the built library, as a service does: `npm run build` comes first. */
const MAIN = `
const { Controller, Get, Module } = require(${JSON.stringify(require.resolve('@nestjs/common'))});
const { ServiceConfig } = require(${JSON.stringify(path.resolve(__dirname, '../../config'))});
const { runService } = require(${JSON.stringify(path.resolve(__dirname, '..'))});

class SlowController {
  slow() { console.log('at work'); return new Promise((resolve) => setTimeout(() => resolve('done'), 500)); }
  leak() { void Promise.reject(new Error('forgotten')); return 'ok'; }
}
const route = (name) => Get(name)(SlowController.prototype, name, Object.getOwnPropertyDescriptor(SlowController.prototype, name));
route('slow');
route('leak');
Controller()(SlowController);
class ProbeModule {}
Module({ controllers: [SlowController] })(ProbeModule);
void runService({ name: 'probe-service', title: 'Probe', version: '1', Config: ServiceConfig, module: () => ProbeModule });
`;
// SHA-256 of "token".
const TOKEN_SHA256 = '3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0';
const HEADERS = { authorization: 'Bearer token' };

describe('the process of a service', () => {
  const cleanup = new CleanupStack();
  let nats: NatsFixture;
  let directory: TempDir;

  beforeAll(async () => {
    directory = await tempDir('run-service');
    cleanup.defer('directory', () => directory.remove());
    nats = await startNats();
    cleanup.defer('nats', () => nats.stop());
    await writeFile(path.join(directory.path, 'main.js'), MAIN);
  }, 60_000);

  afterAll(() => cleanup.run(), 60_000);

  const logFile = (name: string): string => path.join(directory.path, `${name}.log`);
  const logOf = (name: string): Promise<string> => readFile(logFile(name), 'utf8');

  async function start(name: string, env: Environment = {}): Promise<OwnedProcess> {
    const child = await spawnOwned({
      file: process.execPath,
      args: [path.join(directory.path, 'main.js')],
      logFile: logFile(name),
      env: {
        INQUEST_NATS_URL: nats.url,
        INQUEST_URL_SIGNING_KEY: 'k'.repeat(32),
        INQUEST_TOKEN_SHA256: TOKEN_SHA256,
        INQUEST_READY_FILE: path.join(directory.path, `${name}.json`),
        ...env,
      },
    });
    cleanup.defer(name, async () => void (await child.stop({ graceMs: 0 })));
    return child;
  }

  async function urlOf(name: string): Promise<string> {
    const text = await eventually(() => readFile(path.join(directory.path, `${name}.json`), 'utf8'), {
      timeoutMs: 60_000,
    });
    return (JSON.parse(text) as { url: string }).url;
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes the requests at work after %s and exits with 0 within 10 s',
    async (signal) => {
      const child = await start(signal);
      const answer = fetch(`${await urlOf(signal)}/slow`, { headers: HEADERS }).then((response) => response.text());
      await eventually(async () => (await logOf(signal)).includes('at work'));
      process.kill(child.pid, signal);
      await expect(answer).resolves.toBe('done');
      await expect(withDeadline(child.exited, 10_000, 'the exit')).resolves.toEqual({ code: 0, signal: null });
      await expect(readFile(path.join(directory.path, `${signal}.json`))).rejects.toMatchObject({ code: 'ENOENT' });
    },
    90_000,
  );

  it('exits with 1 and names what is wrong with its configuration', async () => {
    const child = await start('config', { INQUEST_HTTP_PORT: 'eighty', INQUEST_NODE_ID: 'a/b' });
    await expect(child.exited).resolves.toEqual({ code: 1, signal: null });
    const log = await logOf('config');
    expect(log).toContain('CONFIG_INVALID');
    expect(log).toMatch(/INQUEST_HTTP_PORT.*INQUEST_NODE_ID/);
  }, 60_000);

  it('logs a failure that nobody handled, and exits with 1', async () => {
    const child = await start('leak');
    await fetch(`${await urlOf('leak')}/leak`, { headers: HEADERS }).catch(() => null);
    await expect(child.exited).resolves.toEqual({ code: 1, signal: null });
    expect(await logOf('leak')).toMatch(/"level":"fatal".*forgotten/);
  }, 60_000);
});
