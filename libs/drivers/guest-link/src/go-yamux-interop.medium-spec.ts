import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { MuxLink } from './mux-link';
import { readAll, writeAll } from './testing/stream-bytes';
import { connectUnixSocket } from './unix-socket';

/** Where Debian's golang-github-hashicorp-yamux-dev puts its sources. */
const GOPATH = '/usr/share/gocode';
const PEER_SOURCE = join(__dirname, 'testing', 'go-yamux-peer', 'main.go');
const PORT = { echo: 1, source: 2, digest: 3, stall: 4, callBack: 5 } as const;
const MIB = 1024 * 1024;
const TRANSFER_BYTES = 64 * MIB;

const signal = (): AbortSignal => AbortSignal.timeout(100_000);
const canBuild = existsSync(join(GOPATH, 'src/github.com/hashicorp/yamux'));
if (!canBuild)
  process.stderr.write('SKIPPED: yamux interop needs the packages golang-go and golang-github-hashicorp-yamux-dev\n');

(canBuild ? describe : describe.skip)('MuxLink with hashicorp/yamux as its server', () => {
  let directory: string;
  let peer: ChildProcess;
  let link: MuxLink;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'go-yamux-'));
    const binary = join(directory, 'peer');
    const env = {
      ...process.env,
      GO111MODULE: 'off',
      GOPATH,
      GOCACHE: join(directory, 'cache'),
      GOFLAGS: '',
      CGO_ENABLED: '0',
    };
    await promisify(execFile)('go', ['build', '-o', binary, PEER_SOURCE], { env });
    peer = spawn(binary, [join(directory, 'mux.sock')], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(peer.stdout as NodeJS.ReadableStream, 'data');
  });
  afterAll(async () => {
    const exited = once(peer, 'exit');
    peer.kill();
    await exited;
    await rm(directory, { recursive: true });
  });
  beforeEach(async () => {
    link = new MuxLink(await connectUnixSocket(join(directory, 'mux.sock'), signal()), 'client');
  });
  afterEach(() => link.close());

  const connect = (port: number): Promise<Duplex> => link.connect(port, signal());

  async function digestOf(bytes: Uint8Array): Promise<string> {
    const stream = await connect(PORT.digest);
    const [answer] = await Promise.all([readAll(stream), writeAll(stream, bytes)]);
    return answer.toString();
  }

  it('receives 64 MiB unchanged, at 40 MiB/s or more on an idle machine', async () => {
    const stream = await connect(PORT.source);
    const startedMs = performance.now();
    const hash = createHash('sha256');
    for await (const chunk of stream) hash.update(chunk as Buffer);
    report('guest to host', startedMs);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(sourcePattern()).digest('hex'));
  });

  it('sends 64 MiB unchanged, and the answer comes after the half-close', async () => {
    const bytes = sourcePattern();
    const startedMs = performance.now();
    const digest = await digestOf(bytes);
    report('host to guest', startedMs);
    expect(digest).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('sends and receives 64 MiB on one stream at once', async () => {
    const bytes = sourcePattern();
    const stream = await connect(PORT.echo);
    const startedMs = performance.now();
    const [received] = await Promise.all([readAll(stream), writeAll(stream, bytes)]);
    report('both ways', startedMs);
    expect(received.equals(bytes)).toBe(true);
  });

  it('serves 1000 streams that are opened at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        const stream = await connect(PORT.echo);
        stream.end(`stream ${i}`);
        return (await readAll(stream)).toString();
      }),
    );
    expect(answers).toEqual(Array.from({ length: 1000 }, (_, i) => `stream ${i}`));
  });

  it('stalls the writer of a stream that the guest does not read, and no other stream', async () => {
    const stalled = await connect(PORT.stall);
    stalled.write(Buffer.alloc(2 * MIB));
    const bytes = Buffer.alloc(4 * MIB, 'beside it ');
    expect(await digestOf(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(stalled.writableNeedDrain).toBe(true);
    expect(stalled.writableLength).toBe(2 * MIB);
  });

  it('stalls a guest whose stream the host does not read, and no other stream', async () => {
    const stalled = await connect(PORT.source);
    const bytes = Buffer.alloc(4 * MIB, 'beside it ');
    expect(await digestOf(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
    let receivedBytes = 0;
    for await (const chunk of stalled) receivedBytes += (chunk as Buffer).length;
    expect(receivedBytes).toBe(TRANSFER_BYTES);
  });

  it('accepts streams that the guest opens', async () => {
    await link.listen(7000, (stream) => void stream.end('from the host'));
    expect((await readAll(await connect(PORT.callBack))).toString()).toBe('from the host');
  });

  it('goes on after a stream was destroyed in the middle of a transfer', async () => {
    const stream = await connect(PORT.source);
    await once(stream.resume(), 'data');
    stream.destroy();
    expect(await digestOf(Buffer.from('x'))).toBe(createHash('sha256').update('x').digest('hex'));
  });
});

/** The 64 MiB that the peer's source sends. */
function sourcePattern(): Buffer {
  const bytes = Buffer.alloc(TRANSFER_BYTES);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (i >>> 8) ^ ((i % MIB) * 7);
  return bytes;
}

/** A shared machine may be slow, so the rate is shown and not asserted. */
function report(what: string, startedMs: number): void {
  const mibPerSecond = (TRANSFER_BYTES / MIB / (performance.now() - startedMs)) * 1000;
  process.stderr.write(`${what}: ${mibPerSecond.toFixed(0)} MiB/s\n`);
}
