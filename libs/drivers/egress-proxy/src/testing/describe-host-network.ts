import { text } from 'node:stream/consumers';
import type { HostNetwork } from '../host-network';

/** A network in which `example.test` resolves to `address`, where an echo server listens on `port`. */
export interface HostNetworkHarness {
  readonly network: HostNetwork;
  readonly address: string;
  readonly port: number;
  /** A port of `address` on which nothing listens. */
  readonly deadPort: number;
  /** A name about which nothing is ever heard. */
  readonly silentName: string;
  dispose(): Promise<void>;
}

const soon = (): AbortSignal => AbortSignal.timeout(30_000);

/** What every `HostNetwork` promises. */
export function describeHostNetwork(name: string, make: () => Promise<HostNetworkHarness>): void {
  describe(`${name}, a host network`, () => {
    let harness: HostNetworkHarness;
    beforeAll(async () => void (harness = await make()));
    afterAll(() => harness.dispose());

    it('gives the addresses of a name', async () => {
      await expect(harness.network.resolve('example.test', soon())).resolves.toEqual([harness.address]);
    });

    it('says that a name has no address', async () => {
      await expect(harness.network.resolve('unknown.test', soon())).rejects.toMatchObject({
        code: 'EGRESS_NAME_UNRESOLVED',
        message: expect.stringContaining('unknown.test'),
      });
    });

    it('connects to an address, and lets one direction end before the other', async () => {
      const stream = await harness.network.dial(harness.address, harness.port, soon());
      stream.end('hello');
      await expect(text(stream)).resolves.toBe('hello');
    });

    it('says that nothing listens', async () => {
      await expect(harness.network.dial(harness.address, harness.deadPort, soon())).rejects.toMatchObject({
        code: 'EGRESS_HOST_UNREACHABLE',
      });
    });

    it('dials no names', async () => {
      await expect(harness.network.dial('example.test', harness.port, soon())).rejects.toMatchObject({
        code: 'EGRESS_HOST_UNREACHABLE',
      });
    });

    it('gives up when it is told to', async () => {
      const aborted = { code: 'OPERATION_ABORTED' };
      const { network, address, port, silentName } = harness;
      await expect(network.resolve('example.test', AbortSignal.abort())).rejects.toMatchObject(aborted);
      await expect(network.dial(address, port, AbortSignal.abort())).rejects.toMatchObject(aborted);
      await expect(network.resolve(silentName, AbortSignal.timeout(50))).rejects.toMatchObject(aborted);
      const dialling = new AbortController();
      const stream = network.dial(address, port, dialling.signal);
      dialling.abort();
      await expect(stream).rejects.toMatchObject(aborted);
    });
  });
}
