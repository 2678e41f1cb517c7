import { FakeNetwork } from '@inquest/egress-proxy/testing';
import { EGRESS_PORT, LOCAL_MODEL_PORT } from '@inquest/egress-proxy';
import { Metrics } from '@inquest/metrics';
import { MachinePaths } from '../machines/machine-paths';
import { VmServiceConfig } from '../vm-service.config';
import { EgressMetrics } from './egress-metrics';
import { EgressOffers } from './egress-offers';

function offersOf(localModelUrl?: string): EgressOffers {
  const config = Object.assign(new VmServiceConfig(), { home: '/nowhere', localModelUrl });
  const network = new FakeNetwork({ names: {}, servers: {} });
  return new EgressOffers(network, config, new MachinePaths(config), new EgressMetrics(new Metrics('vm-service')));
}

const row = { machineId: 'n1-m', incarnation: 1, allowedHosts: [] as string[], hasLocalModel: false };

describe('EgressOffers', () => {
  it('refuses a machine that asks for a model which its node does not have', () => {
    expect(() => offersOf().accept({ allowedHosts: [], localModel: true })).toThrow(
      expect.objectContaining({ code: 'LOCAL_MODEL_MISSING', status: 422, fault: 'caller' }),
    );
    expect(offersOf('http://[::1]:11434').accept({ allowedHosts: [], localModel: true }).hasLocalModel).toBe(true);
  });

  it('refuses what is no host', () => {
    expect(() => offersOf().accept({ allowedHosts: ['a.example', '127.0.0.1'], localModel: false })).toThrow(
      expect.objectContaining({ code: 'EGRESS_ENTRY_INVALID' }),
    );
  });

  it('gives a machine that asked for nothing neither a listener nor a kernel argument', () => {
    const egress = offersOf('http://127.0.0.1:11434').make(row);
    expect([egress.isOffered, egress.listeners, egress.kernelArguments]).toEqual([false, [], []]);
  });

  it.each([
    [{ allowedHosts: ['a.example'] }, [EGRESS_PORT], ['inquest.egress=1']],
    [{ hasLocalModel: true }, [LOCAL_MODEL_PORT], ['inquest.local_model=1']],
  ])('gives a machine that asked for %j what belongs to it and nothing else', (wish, ports, kernelArguments) => {
    const egress = offersOf('http://127.0.0.1:11434').make({ ...row, ...wish });
    expect(egress.listeners.map(({ port }) => port)).toEqual(ports);
    expect(egress.kernelArguments).toEqual(kernelArguments);
  });

  it('gives no pipe to a machine whose node has lost its model', () => {
    expect(offersOf().make({ ...row, hasLocalModel: true }).isOffered).toBe(false);
  });
});
