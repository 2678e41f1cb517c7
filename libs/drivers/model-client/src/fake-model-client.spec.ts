import { describeModelClient, FakeModelClient } from './testing';

describeModelClient('FakeModelClient', (turns) =>
  Promise.resolve({ client: new FakeModelClient(turns), close: () => Promise.resolve() }),
);
