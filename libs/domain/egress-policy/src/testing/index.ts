export { clientHelloBytes, type ClientHelloParts } from './client-hello-bytes';
