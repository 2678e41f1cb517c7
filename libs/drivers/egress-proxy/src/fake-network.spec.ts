import { describeHostNetwork, FakeNetwork } from './testing';

const ADDRESS = '192.0.2.7';

describeHostNetwork('FakeNetwork', async () => {
  const network = new FakeNetwork({
    names: { 'example.test': [ADDRESS] },
    servers: { [ADDRESS]: (stream) => void stream.pipe(stream) },
    silent: ['silent.test'],
  });
  const port = 443;
  return {
    network: {
      resolve: (host, signal) => network.resolve(host, signal),
      // All ports of an address are one in the fake.
      dial: (address, at, signal) => network.dial(at === port ? address : '192.0.2.9', at, signal),
    },
    address: ADDRESS,
    port,
    deadPort: 444,
    silentName: 'silent.test',
    dispose: () => network.close(),
  };
});
