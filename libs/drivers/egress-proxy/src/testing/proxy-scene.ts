import type { Duplex } from 'node:stream';
import { AllowList } from '@inquest/egress-policy';
import { clientHelloBytes } from '@inquest/egress-policy/testing';
import { DEFAULT_EGRESS_LIMITS, type EgressLimits } from '../egress-limits';
import { EGRESS_PORT, EgressProxy } from '../egress-proxy';
import type { EgressRecord } from '../egress-record';
import { readMessage } from '../read-message';
import { FakeNetwork, type FakeNetworkOptions } from './fake-network';
import { createGuest, type Guest } from './guest';

/** Names and the addresses they resolve to. The public ones are those of no host that a test connects to. */
export const ADDRESSES = {
  'allowed.example': ['93.184.215.14'],
  'two.example': ['93.184.215.15', '93.184.215.14'],
  'private.example': ['10.0.0.7'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'mapped.example': ['::ffff:93.184.215.14'],
  'metadata.example': ['169.254.169.254'],
  'dead.example': ['93.184.215.16'],
} as const;

const ALLOWED = [...Object.keys(ADDRESSES), 'unknown.example', 'silent.example', '*.wild.example'];

/** A guest, its proxy and the network behind, in this process. */
export interface ProxyScene extends Guest {
  readonly proxy: EgressProxy;
  /** What was recorded of the guest's connections. */
  readonly records: EgressRecord[];
  readonly network: FakeNetwork;
  /** What each server of the network got, in order of connection. */
  readonly received: Buffer[][];
}

/** Every server answers each chunk with the same chunk, and ends when its client does; `serve` replaces that. */
export async function createProxyScene(
  options: { readonly limits?: Partial<EgressLimits>; readonly serve?: (stream: Duplex) => void } = {},
): Promise<ProxyScene> {
  const received: Buffer[][] = [];
  const echo = (stream: Duplex): void => {
    const chunks: Buffer[] = [];
    received.push(chunks);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.pipe(stream);
  };
  const servers: FakeNetworkOptions['servers'] = { '93.184.215.14': options.serve ?? echo };
  const network = new FakeNetwork({ names: ADDRESSES, servers, silent: ['silent.example'] });
  const limits = { ...DEFAULT_EGRESS_LIMITS, ...options.limits };
  const records: EgressRecord[] = [];
  const record = (entry: EgressRecord): Promise<void> => Promise.resolve(void records.push(entry));
  const proxy = new EgressProxy({ allowList: AllowList.parse(ALLOWED), network, record, limits });
  const guest = await createGuest(EGRESS_PORT, proxy.accept);
  return {
    ...guest,
    proxy,
    network,
    records,
    received,
    close: async () => {
      await proxy.close();
      await guest.close();
      await network.close();
    },
  };
}

/** The head of a CONNECT request. */
export const connectTo = (authority: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nUser-Agent: test\r\n\r\n`;

/** A ClientHello for a server name. */
export const helloFor = (name: string): Buffer => clientHelloBytes({ serverNames: [name] });

/** The next `length` bytes of a stream; fewer when it ends before. */
export async function readBytes(stream: Duplex, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  await readMessage(
    stream,
    (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      return size >= length ? true : null;
    },
    AbortSignal.timeout(30_000),
  );
  return Buffer.concat(chunks);
}

/** Resolves once the stream is closed, in whatever way. */
export const whenClosed = (stream: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed) return resolve();
    stream.on('error', () => undefined).once('close', resolve);
  });
