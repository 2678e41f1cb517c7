import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Controller, Get, Module } from '@nestjs/common';
import { IsString } from 'class-validator';
import { ServiceConfig, type Environment } from '@inquest/config';
import { CleanupStack, operation } from '@inquest/kernel';
import { RpcClient, RpcHandler } from '@inquest/messaging';
import { outboxMigration, PersistenceModule } from '@inquest/persistence';
import {
  eventually,
  startNats,
  startPostgres,
  tempDir,
  type NatsFixture,
  type PostgresFixture,
  type TempDir,
} from '@inquest/testing';
import type { ServiceDefinition } from './service-definition';
import { startService, type RunningService } from './start-service';

class Nothing {}
class Greeting {
  @IsString() readonly text!: string;
}
const greet = operation({
  subject: 'inquest.v1.cmd.probe.greet',
  request: Nothing,
  response: Greeting,
  timeoutMs: 20_000,
});

@Controller('greeting')
class GreetingController {
  constructor(private readonly config: ServiceConfig) {}

  @RpcHandler(greet)
  overNats(): Greeting {
    return { text: `hello from ${this.config.nodeId}` };
  }

  @Get()
  overHttp(): Greeting {
    return this.overNats();
  }
}

@Module({ controllers: [GreetingController] })
class ProbeModule {}

const definition: ServiceDefinition<ServiceConfig> = {
  name: 'probe-service',
  title: 'Probe',
  version: '1.2.3',
  Config: ServiceConfig,
  module: ({ databaseUrl }) => ({
    module: ProbeModule,
    imports: [
      PersistenceModule.forRoot({ schema: 'probe', entities: [], migrations: [outboxMigration('probe')], databaseUrl }),
    ],
  }),
};

const TOKEN = 'operator-token';

describe('a service', () => {
  const cleanup = new CleanupStack();
  let nats: NatsFixture;
  let postgres: PostgresFixture;
  let directory: TempDir;
  let env: Environment;
  let service: RunningService;
  const logged: string[] = [];

  beforeAll(async () => {
    directory = await tempDir('service');
    cleanup.defer('directory', () => directory.remove());
    nats = await startNats();
    cleanup.defer('nats', () => nats.stop());
    postgres = await startPostgres();
    cleanup.defer('postgres', () => postgres.stop());
    env = {
      INQUEST_NATS_URL: nats.url,
      INQUEST_DATABASE_URL: await postgres.createDatabase(),
      INQUEST_NODE_ID: 'rack-7',
      INQUEST_TOKEN_SHA256: createHash('sha256').update(TOKEN).digest('hex'),
      INQUEST_URL_SIGNING_KEY: 'canary-signing-key-0123456789abcdef',
      INQUEST_READY_FILE: path.join(directory.path, 'ready.json'),
    };
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((line) => logged.push(String(line)) > 0);
    cleanup.defer('standard output', () => write.mockRestore());
    service = await startService(definition, env);
    cleanup.defer('service', () => service.stop());
  }, 120_000);

  afterAll(() => cleanup.run(), 60_000);

  async function get(route: string, token: string | null = TOKEN): Promise<{ status: number; text: string }> {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${service.url}${route}`, { headers, signal: AbortSignal.timeout(20_000) });
    return { status: response.status, text: await response.text() };
  }

  it('says in its ready file where it listens', async () => {
    const ready: unknown = JSON.parse(await readFile(path.join(directory.path, 'ready.json'), 'utf8'));
    expect(ready).toEqual({ pid: process.pid, port: Number(new URL(service.url).port), url: service.url });
  });

  it('answers the same over NATS and over REST, with a token only', async () => {
    await expect(service.app.get(RpcClient).call(greet, {})).resolves.toEqual({ text: 'hello from rack-7' });
    expect(JSON.parse((await get('/greeting')).text)).toEqual({ text: 'hello from rack-7' });
    expect((await get('/greeting', null)).status).toBe(401);
  });

  it('shows liveness and readiness to everybody, details only with a token', async () => {
    expect((await get('/healthz', null)).text).toBe('{"status":"live"}');
    expect(await get('/readyz', null)).toMatchObject({ status: 200 });
    expect((await get('/health', null)).status).toBe(401);
    expect(JSON.parse((await get('/health')).text)).toMatchObject({
      status: 'ready',
      service: 'probe-service',
      version: '1.2.3',
      node: 'rack-7',
      checks: [{ name: 'nats' }, { name: 'postgres' }],
    });
  });

  it('measures HTTP and NATS by route and subject', async () => {
    await get('/greeting');
    await get('/never/twice/the/same');
    await service.app.get(RpcClient).call(greet, {});
    const { text } = await get('/metrics');
    const series = text.split('\n').filter((line) => line.includes('_seconds_count{service="probe-service"'));
    expect(series).toContainEqual(expect.stringMatching(/^inquest_http_.*route="\/greeting",status="200"/));
    expect(series).toContainEqual(
      expect.stringMatching(/^inquest_rpc_.*side="server",subject="inquest.v1.cmd.probe.greet",outcome="ok"/),
    );
    expect(text.includes('never')).toBe(false);
    expect((await get('/metrics', null)).status).toBe(401);
  });

  it.each([
    ['nats', () => nats],
    ['postgres', () => postgres],
  ] as const)(
    'is unready within 5 s of losing %s, stays alive, and recovers alone',
    async (name, dependency) => {
      await dependency().kill();
      await eventually(async () => (await get('/readyz', null)).status === 503, { timeoutMs: 5_000 });
      const { checks } = JSON.parse((await get('/readyz', null)).text) as { checks: unknown };
      expect(checks).toContainEqual(expect.objectContaining({ name, isReady: false }));
      expect((await get('/healthz', null)).status).toBe(200);
      await dependency().restart();
      await eventually(async () => (await get('/readyz', null)).status === 200, { timeoutMs: 30_000 });
    },
    120_000,
  );

  it('starts without NATS, alive but not ready', async () => {
    const lonely = await startService(definition, {
      ...env,
      INQUEST_NATS_URL: 'nats://127.0.0.1:1',
      INQUEST_READY_FILE: '',
    });
    try {
      expect((await fetch(`${lonely.url}/healthz`)).status).toBe(200);
      expect((await fetch(`${lonely.url}/readyz`)).status).toBe(503);
    } finally {
      await lonely.stop();
    }
  }, 60_000);

  it('leaves nothing open when it cannot start', async () => {
    const broken = {
      ...definition,
      module: () => ({
        module: ProbeModule,
        providers: [{ provide: 'x', useFactory: () => Promise.reject(new Error('no')) }],
      }),
    };
    await expect(startService(broken, { ...env, INQUEST_READY_FILE: '' })).rejects.toThrow('no');
  }, 60_000);

  it('never logs its secrets', () => {
    expect(logged.length).toBeGreaterThan(0);
    const text = logged.join('');
    for (const secret of ['canary-signing-key', new URL(env['INQUEST_DATABASE_URL'] ?? '').password, TOKEN]) {
      expect(text.includes(`:${secret}@`) || text.includes(`"${secret}`)).toBe(false);
    }
  });

  it('removes its ready file when it stops, and may be stopped twice', async () => {
    await service.stop();
    await service.stop();
    await expect(readFile(path.join(directory.path, 'ready.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow('fetch failed');
  }, 60_000);
});
