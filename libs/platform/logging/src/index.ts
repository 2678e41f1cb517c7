export { JsonLogger, type JsonLoggerOptions } from './json-logger';
export { type LogEntry, type LoggedError } from './log-entry';
export { Redactor, redactor } from './redactor';
export { currentTraceId, runWithTrace, TRACE_HEADER, traceIdFrom } from './trace';
