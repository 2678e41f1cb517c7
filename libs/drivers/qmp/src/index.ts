export { qmpError } from './errors';
export { QmpClient, type QmpDeadline } from './qmp-client';
export type { QmpEventListener } from './event-queue';
export { isObject, type JsonObject, type QmpEvent } from './messages';
