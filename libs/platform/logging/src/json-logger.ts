import type { LoggerService } from '@nestjs/common';
import { systemClock, type Clock } from '@inquest/kernel';
import { encodeLogEntry, loggedError, type LogEntry } from './log-entry';
import { redactor as processRedactor, type Redactor } from './redactor';
import { currentTraceId } from './trace';

/** Least severe first; the names are those of Nest's LoggerService. */
const LEVELS = ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

export interface JsonLoggerOptions {
  readonly service: string;
  /** Least severe entry that is written; `log` when left out. */
  readonly level?: Level;
  /** Takes one line with its newline; standard output when left out. */
  readonly write?: (line: string) => void;
  readonly clock?: Clock;
  readonly redactor?: Redactor;
}

/** Nest's logger: one line of JSON per entry, redacted, with the trace id of the request it belongs to. */
export class JsonLogger implements LoggerService {
  private readonly least: number;

  constructor(private readonly options: JsonLoggerOptions) {
    this.least = LEVELS.indexOf(options.level ?? 'log');
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('verbose', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write('log', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    if (LEVELS.indexOf(level) < this.least) return;
    const { service, clock = systemClock, redactor = processRedactor, write = writeToStandardOutput } = this.options;
    const entry: LogEntry = {
      time: new Date(clock.nowMs()).toISOString(),
      level,
      service,
      traceId: currentTraceId(),
      ...arrange(message, rest),
    };
    write(`${encodeLogEntry(entry, redactor)}\n`);
  }
}

/** Nest passes its context as the last string, and `error` may get a stack before it. */
function arrange(message: unknown, rest: readonly unknown[]): Pick<LogEntry, 'context' | 'msg' | 'err' | 'data'> {
  const last = rest.at(-1);
  const context = typeof last === 'string' && !isStack(last) ? last : null;
  const others = (context === null ? rest : rest.slice(0, -1)).filter((other) => other !== undefined);
  const error = [message, ...others].find((other) => other instanceof Error);
  const stack = others.find((other) => typeof other === 'string' && isStack(other));
  const msg = typeof message === 'string' ? message : error === message ? (error as Error).message : '';
  const data = [
    msg === '' && message !== error ? [message] : [],
    others.filter((o) => o !== error && o !== stack),
  ].flat();
  return {
    context,
    msg,
    ...(error !== undefined ? { err: loggedError(error) } : {}),
    ...(error === undefined && typeof stack === 'string' ? { err: { code: null, message: msg, stack } } : {}),
    ...(data.length > 0 ? { data } : {}),
  };
}

const isStack = (text: string): boolean => text.includes('\n    at ');

function writeToStandardOutput(line: string): void {
  process.stdout.write(line);
}
