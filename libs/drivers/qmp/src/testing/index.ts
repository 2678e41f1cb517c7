export { FakeQmpServer, type FakeQmpAnswer, type FakeQmpCommand, type FakeQmpHandler } from './fake-qmp-server';
