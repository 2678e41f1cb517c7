import { readdir } from 'node:fs/promises';
import { connect } from 'nats';
import { Client } from 'pg';
import { startNats, type NatsFixture } from './nats-fixture';
import { startPostgres, type PostgresFixture } from './postgres-fixture';
import { tempDir } from './temp-dir';

/** Runs `work` with a temporary directory of its own and gives the names that it left there. */
async function leftoversOf(work: () => Promise<void>): Promise<string[]> {
  const directory = await tempDir('leftovers');
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory.path;
  try {
    await work();
    return await readdir(directory.path);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    await directory.remove();
  }
}

describe('startNats', () => {
  let nats: NatsFixture;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.stop());

  it('has JetStream, and keeps its messages over a crash on the same port', async () => {
    const before = await connect({ servers: nats.url, reconnect: false });
    await (await before.jetstreamManager()).streams.add({ name: 'S', subjects: ['s.>'] });
    await before.jetstream().publish('s.1', 'kept');
    await nats.kill();
    await nats.restart();
    const after = await connect({ servers: nats.url, reconnect: false });
    expect((await (await after.jetstreamManager()).streams.info('S')).state.messages).toBe(1);
    await after.close();
  });

  it('leaves nothing behind when it is stopped', async () => {
    const left = await leftoversOf(async () => {
      const other = await startNats();
      await other.stop();
      await other.stop();
      const attempt = connect({ servers: other.url, reconnect: false });
      await expect(attempt).rejects.toMatchObject({ code: 'CONNECTION_REFUSED' });
    });
    expect(left).toEqual([]);
  });

  it('lets a user reach only the subjects it was given', async () => {
    const user = { user: 'vm', password: 'p', publish: ['allowed.>'], subscribe: ['_INBOX.>'] };
    const guarded = await startNats({ users: [user] });
    try {
      await expect(connect({ servers: guarded.url, reconnect: false })).rejects.toMatchObject({
        code: 'AUTHORIZATION_VIOLATION',
      });
      const client = await connect({ servers: guarded.url, user: 'vm', pass: 'p', reconnect: false });
      const status = client.status()[Symbol.asyncIterator]();
      client.publish('forbidden.subject');
      expect((await status.next()).value).toMatchObject({ type: 'error', data: 'PERMISSIONS_VIOLATION' });
      await client.close();
    } finally {
      await guarded.stop();
    }
  });
});

describe('startPostgres', () => {
  let postgres: PostgresFixture;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  const query = async (url: string, text: string): Promise<unknown[]> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };

  it('gives each test a database of its own', async () => {
    const [one, two] = [await postgres.createDatabase(), await postgres.createDatabase()];
    await query(one, 'CREATE TABLE only_here (id int)');
    expect(await query(two, "SELECT to_regclass('only_here') AS found")).toEqual([{ found: null }]);
  });

  it('refuses a connection without the password', async () => {
    const url = new URL(postgres.url);
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('keeps committed rows over a crash on the same port', async () => {
    const url = await postgres.createDatabase();
    await query(url, 'CREATE TABLE t AS SELECT 7 AS n');
    await postgres.restart();
    expect(await query(url, 'SELECT n FROM t')).toEqual([{ n: 7 }]);
    await postgres.kill();
    await postgres.restart();
    expect(await query(postgres.url, 'SELECT 1 AS up')).toEqual([{ up: 1 }]);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const left = await leftoversOf(async () => {
      const other = await startPostgres();
      await other.stop();
      await expect(query(other.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    });
    expect(left).toEqual([]);
  });
});
