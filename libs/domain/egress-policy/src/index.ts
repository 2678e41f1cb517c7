export { egressError } from './errors';
export { ALLOW_LIST_MAX_ENTRIES, AllowList } from './allow-list';
export { CONNECT_HEAD_MAX_BYTES, ConnectHeadReader, type ConnectHead } from './connect-head';
export { CLIENT_HELLO_MAX_BYTES, ClientHelloReader, HANDSHAKE_RECORD, type ClientHello } from './client-hello';
export {
  checkAddresses,
  checkServerName,
  checkTarget,
  HTTPS_PORT,
  parseTarget,
  type EgressTarget,
} from './egress-rules';
export { whyNotPublic } from './public-address';
