export { describeModelClient, type ModelClientUnderTest } from './describe-model-client';
export { FakeModelClient, type FakeTurn } from './fake-model-client';
