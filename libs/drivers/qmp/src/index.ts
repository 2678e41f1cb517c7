export { qmpError } from './errors';
export { QmpClient, type QmpDeadline } from './qmp-client';
export { readEventFile } from './event-file';
export type { QmpEventListener } from './event-queue';
export { isObject, type JsonObject, type QmpEvent } from './messages';
