export { dto, IsGuestPath, IsId, IsImageName, IsListOf, IsNested, IsText, IsTimeMs, IsWhole, Nullable } from './fields';
export {
  Empty,
  ErrorView,
  OPERATION_STATES,
  OperationRequest,
  OperationView,
  PageRequest,
  PersonView,
  ReasonRequest,
  StreamTicket,
  type OperationState,
} from './shared.contract';
