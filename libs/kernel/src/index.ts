export {
  assertNever,
  defineErrors,
  DomainError,
  errorFromBody,
  hasCode,
  isDomainError,
  kernelError,
  toDomainError,
  type ErrorBody,
  type ErrorDetails,
  type ErrorFactory,
  type ErrorRow,
  type ErrorTable,
  type Fault,
} from './errors';
export {
  ID_PATTERN,
  isGeneratedId,
  newId,
  newMachineId,
  nodeOfMachine,
  parseId,
  type ImageName,
  type MachineId,
  type NodeId,
  type OperationId,
  type ProjectId,
  type PublicationId,
  type RunId,
  type SessionId,
} from './ids';
export { systemClock, type Clock } from './clock';
export { CleanupStack, type Release } from './cleanup';
export { abortable, deadlineSignal, delay, withDeadline } from './deadline';
export { event, operation, subjectFor, type DtoClass, type EventContract, type Operation } from './contract';
export { HeadTailBuffer } from './head-tail-buffer';
export { StateWaiters } from './state-waiters';
export { KeyedQueue } from './keyed-queue';
export { leadingContinuations, wholeCharacters } from './utf8';
