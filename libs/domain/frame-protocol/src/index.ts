export {
  END_FRAME_BYTES,
  FRAME_PORT,
  LENGTH_PREFIX_BYTES,
  MAX_CONTROL_FRAME_BYTES,
  MAX_DATA_BYTES,
  MAX_DATA_FRAME_BYTES,
  MAX_LIST_ENTRIES,
  MAX_NONCE_LENGTH,
  PROTOCOL_VERSION,
} from './limits';
export { frameError, GUEST_ERROR_CODES } from './errors';
export { KIND_BYTE, type DataKind, type Frame, type FrameKind, type JsonObject } from './frame';
export { FrameDecoder } from './frame-decoder';
export { chunkData, encodeControl, encodeData, encodeEnd } from './frame-encoder';
export { guestReportedError, type GuestErrorAnswer } from './guest-reported-error';
export {
  parseBeat,
  parseExecExit,
  parseExecStarted,
  parseGetEnd,
  parseList,
  parseMetrics,
  parseOk,
  parsePong,
  parsePutResult,
  parseStat,
  parseTailEof,
  parseTailStart,
  type AnswerParser,
} from './answer-parser';
export type {
  ClockRequest,
  ExecCommand,
  ExecOptions,
  ExecRequest,
  GetRequest,
  GuestOp,
  GuestRequest,
  ListRequest,
  MetricsRequest,
  PingRequest,
  PutRequest,
  QuiesceRequest,
  OfferRequest,
  RebirthRequest,
  RemoveRequest,
  ShutdownMode,
  ShutdownRequest,
  SignalRequest,
  StatRequest,
  TailRequest,
  TransferKind,
  WatchRequest,
} from './requests';
export type {
  Beat,
  ExecExit,
  ExecStarted,
  FileEntry,
  FileKind,
  FileList,
  FileStat,
  GetEnd,
  GuestMetrics,
  Pong,
  PutResult,
  TailPosition,
} from './answers';
