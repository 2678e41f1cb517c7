import { describeGuestLink } from './testing/guest-link-conformance';
import { createMemoryLinkPair } from './testing/memory-link';

describeGuestLink('a multiplexed pipe, opened by the client', () => Promise.resolve(createMemoryLinkPair()));

describeGuestLink('a multiplexed pipe, opened by the server', () => {
  const { host, guest, sever } = createMemoryLinkPair();
  return Promise.resolve({ host: guest, guest: host, sever });
});
