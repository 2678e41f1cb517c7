export { describeHostNetwork, type HostNetworkHarness } from './describe-host-network';
export { createGuest, type Guest } from './guest';
export { FakeNetwork, type FakeNetworkOptions } from './fake-network';
