import { readFile } from 'node:fs/promises';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { AllowList } from '@inquest/egress-policy';
import {
  DEFAULT_EGRESS_LIMITS,
  EgressProxy,
  Internet,
  LocalModelPipe,
  type EgressRecord,
  type HostNetwork,
} from '@inquest/egress-proxy';
import { GuestAgentClient, type GuestExec } from '@inquest/guest-link';
import { runCommand } from '@inquest/process';
import { eventually, tempDir, type TempDir } from '@inquest/testing';
import type { VmHandle } from '@inquest/vm-driver';
import { QemuHarness } from '@inquest/vm-driver-qemu/testing';
import { EgressLog } from './egress-log';
import { MachineEgress } from './machine-egress';

const HOST = 'allowed.example';
/** What the name resolves to here; the dialler below goes to loopback in its place. */
const PUBLIC_ADDRESS = '93.184.215.14';
const ANSWER = 'the host that was meant';
const LIMIT_MS = 60_000;

/** Names as a test wants them, and one server on loopback behind every public address. */
class LoopbackNetwork implements HostNetwork {
  readonly lookups: string[] = [];
  private readonly internet = new Internet();

  constructor(private readonly port: number) {}

  resolve(host: string): Promise<readonly string[]> {
    this.lookups.push(host);
    return Promise.resolve([host === HOST ? PUBLIC_ADDRESS : '10.0.0.7']);
  }

  dial(_address: string, _port: number, signal: AbortSignal): Promise<Duplex> {
    return this.internet.dial('127.0.0.1', this.port, signal);
  }
}

/** The two ends of a command in a guest as one stream. */
class ExecStream extends Duplex {
  constructor(private readonly exec: GuestExec) {
    super();
    void this.copyOutput();
  }

  override _read(): void {
    // What comes is pushed as it comes: a test has little of it.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.exec.writeStdin(chunk).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.exec.endStdin().then(() => done(), done);
  }

  private async copyOutput(): Promise<void> {
    try {
      for await (const { bytes } of this.exec.output) this.push(bytes);
      this.push(null);
    } catch (e) {
      this.destroy(e as Error);
    }
  }
}

/** A key and a certificate for `HOST` that nobody but the test trusts. */
async function makeCertificate(directory: string): Promise<{ readonly key: Buffer; readonly cert: Buffer }> {
  const [key, cert] = [path.join(directory, 'key.pem'), path.join(directory, 'cert.pem')];
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const args = ['req', '-x509', ...keyOptions, '-keyout', key, '-out', cert, '-days', '2', ...subject];
  await runCommand('openssl', args, { timeoutMs: LIMIT_MS });
  return { key: await readFile(key), cert: await readFile(cert) };
}

describe('the ways out of a real guest', () => {
  let harness: QemuHarness;
  let directory: TempDir;
  let server: Server;
  let model: Server;
  let cert: Buffer;
  let network: LoopbackNetwork;
  let egress: MachineEgress;
  let machine: VmHandle;
  let agent: GuestAgentClient;
  const records: EgressRecord[] = [];
  const options = () => ({ signal: AbortSignal.timeout(LIMIT_MS), deadlineMs: LIMIT_MS });

  beforeAll(async () => {
    directory = await tempDir('egress');
    const certificate = await makeCertificate(directory.path);
    cert = certificate.cert;
    server = createServer(certificate, (socket) => void socket.end(ANSWER)).listen(0, '127.0.0.1');
    model = createTcpServer((socket) => void socket.end('the model')).listen(0, '127.0.0.1');
    await Promise.all([once(server, 'listening'), once(model, 'listening')]);
    network = new LoopbackNetwork((server.address() as AddressInfo).port);
    harness = await QemuHarness.create(await tempDir('egress-machines'));
    egress = makeEgress();
    ({ machine, agent } = await boot(egress, egress.kernelArguments));
  });
  afterAll(async () => {
    await egress?.close();
    await harness?.dispose();
    server?.close();
    model?.close();
    await directory?.remove();
  });

  function makeEgress(): MachineEgress {
    const log = new EgressLog(path.join(directory.path, 'evidence'));
    const record = (entry: EgressRecord): Promise<void> => {
      records.push(entry);
      return log.record(entry);
    };
    const common = { record, limits: DEFAULT_EGRESS_LIMITS };
    const allowList = AllowList.parse([HOST, 'private.example']);
    const endpoint = { host: '127.0.0.1', port: (model.address() as AddressInfo).port };
    return new MachineEgress({
      proxy: new EgressProxy({ allowList, network, ...common }),
      localModel: new LocalModelPipe({ endpoint, ...common }),
      log,
    });
  }

  async function boot(
    { listeners }: MachineEgress,
    kernelArguments: readonly string[],
  ): Promise<{ readonly machine: VmHandle; readonly agent: GuestAgentClient }> {
    const spec = harness.makeSpec({ listeners });
    const commandLine = [...spec.boot.commandLine, ...kernelArguments];
    const booted = await harness.driver.start({ ...spec, boot: { ...spec.boot, commandLine } }, options().signal);
    const client = new GuestAgentClient(booted.link);
    await client.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
    return { machine: booted, agent: client };
  }

  async function run(shell: string, client = agent): Promise<string> {
    const bounds = { headBytes: 16_384, tailBytes: 16_384 };
    const { stdout, stderr } = await client.execBounded({ shell }, { ...options(), bounds });
    return Buffer.concat([stdout.head, stdout.tail, stderr.head, stderr.tail]).toString();
  }

  /** What the guest's nc gets back for a request to the proxy. */
  const ask = (request: string): Promise<string> => run(`printf '${request}' | nc 127.0.0.1 3128`);

  it('are up at both ends, and programs are told of the proxy', async () => {
    await expect(agent.ping(options())).resolves.toMatchObject({ egress: true });
    const environment = await run('env');
    expect(environment).toContain('HTTPS_PROXY=http://127.0.0.1:3128\n');
    expect(environment).toContain('https_proxy=http://127.0.0.1:3128\n');
    expect(environment).toContain('NO_PROXY=localhost,127.0.0.1,::1\n');
    expect(records).toEqual([]);
  });

  it('lead a TLS client in the guest to the allowed host', async () => {
    const exec = await agent.exec({ shell: 'exec nc 127.0.0.1 3128' }, { ...options(), stdin: true });
    const transport = new ExecStream(exec);
    transport.write(`CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}:443\r\n\r\n`);
    const [head] = (await once(transport, 'data')) as [Buffer];
    expect(head.toString()).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
    await expect(text(connect({ socket: transport, servername: HOST, ca: cert }))).resolves.toBe(ANSWER);
    await exec.exit;
    await eventually(() => expect(records).toHaveLength(2));
    const sent = { verdict: 'allowed', host: HOST, address: PUBLIC_ADDRESS };
    expect(records).toMatchObject([
      { ...sent, isClosed: false },
      { ...sent, isClosed: true, message: 'both sides were done', bytesDown: expect.any(Number) },
    ]);
  });

  it.each([
    ['a denied host', 'CONNECT denied.example:443 HTTP/1.1\\r\\n\\r\\n', 'EGRESS_HOST_DENIED', 0],
    ['an address', `CONNECT ${PUBLIC_ADDRESS}:443 HTTP/1.1\\r\\n\\r\\n`, 'EGRESS_ADDRESS_LITERAL', 0],
    ['another port', `CONNECT ${HOST}:80 HTTP/1.1\\r\\n\\r\\n`, 'EGRESS_PORT_REFUSED', 0],
    ['plain HTTP', `GET http://${HOST}/ HTTP/1.1\\r\\n\\r\\n`, 'EGRESS_METHOD_REFUSED', 0],
    ['a name with a private address', 'CONNECT private.example:443 HTTP/1.1\\r\\n\\r\\n', 'EGRESS_ADDRESS_PRIVATE', 1],
  ])('are closed by the proxy, not by a dead network, for %s', async (_, request, code, lookups) => {
    const before = network.lookups.length;
    const answer = await ask(request);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer).toContain(`"code":"${code}"`);
    expect(network.lookups).toHaveLength(before + lookups);
    expect(records.at(-1)).toMatchObject({ verdict: 'refused', code, isClosed: true });
  });

  it('show a program of the guest the refusal of the proxy', async () => {
    const answer = await run('http_proxy=http://127.0.0.1:3128 wget -O - http://allowed.example/ 2>&1');
    expect(answer).toContain('403 Forbidden');
  });

  it('lead to the local model, whatever the guest says', async () => {
    await expect(run("echo 'CONNECT denied.example:443 HTTP/1.1' | nc 127.0.0.1 11434")).resolves.toBe('the model');
  });

  it('are the only ones: no name is resolved, and no address has a route', async () => {
    expect(await run(`nslookup ${HOST} 2>&1; echo "exit $?"`)).toMatch(/exit [1-9]/);
    expect(await run(`wget -O - http://${PUBLIC_ADDRESS}/`)).toContain('Network is unreachable');
  });

  it('leave a record of each connection beside the evidence', async () => {
    const file = await readFile(path.join(directory.path, 'evidence', 'egress.jsonl'), 'utf8');
    const lines = file.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as EgressRecord)).toEqual(records);
  });

  it('are not there for a guest that is offered none, until it is', async () => {
    const other = await boot(egress, []);
    await expect(other.agent.ping(options())).resolves.toMatchObject({ egress: false });
    expect(await run('nc 127.0.0.1 3128 </dev/null 2>&1; env', other.agent)).toMatch(/refused(?![^]*HTTPS_PROXY)/);
    await other.agent.offer({ egress: true, localModel: false }, options());
    await expect(other.agent.ping(options())).resolves.toMatchObject({ egress: true });
    expect(await run('env', other.agent)).toContain('HTTPS_PROXY=');
    await other.machine.stop({ graceMs: 0 });
  });

  it('are down when the host has closed its end', async () => {
    await egress.close();
    expect(await ask(`CONNECT ${HOST}:443 HTTP/1.1\\r\\n\\r\\n`)).not.toContain('HTTP/');
    await machine.stop({ graceMs: 0 });
  });
});
