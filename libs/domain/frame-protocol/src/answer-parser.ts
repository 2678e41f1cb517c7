import { ID_PATTERN } from '@inquest/kernel';
import { AnswerFields } from './answer-fields';
import {
  FILE_KINDS,
  type Beat,
  type ExecExit,
  type ExecStarted,
  type FileEntry,
  type FileList,
  type FileStat,
  type GetEnd,
  type GuestMetrics,
  type Pong,
  type PutResult,
  type TailPosition,
} from './answers';
import { frameError } from './errors';
import { type JsonObject } from './frame';
import { guestReportedError, printable } from './guest-reported-error';
import { MAX_LIST_ENTRIES, MAX_NAME_LENGTH, MAX_NONCE_LENGTH } from './limits';

/**
 * Makes a control frame's body into one kind of answer. Throws the guest's own error when the body is one,
 * `FRAME_ORDER_INVALID` when it is another answer, `ANSWER_INVALID` when a property is missing or out of bounds.
 */
export type AnswerParser<T> = (body: JsonObject) => T;

function parser<T>(type: string, read: (fields: AnswerFields) => T): AnswerParser<T> {
  return (body) => {
    const actual = Object.hasOwn(body, 'type') ? body['type'] : undefined;
    if (actual === 'error') throw guestReportedError(body);
    if (actual !== type) {
      const shown = typeof actual === 'string' ? `"${printable(actual, MAX_TYPE_LENGTH)}"` : 'no type';
      throw frameError('FRAME_ORDER_INVALID', `the guest answered ${shown} where "${type}" must follow`, {
        expected: type,
      });
    }
    return read(new AnswerFields(body, type));
  };
}

const MAX_TYPE_LENGTH = 32;
/** uname fields are 64 characters (__NEW_UTS_LEN of linux/utsname.h); versions and boot ids are shorter than this too. */
const MAX_LABEL_LENGTH = 128;
/** PID_MAX_LIMIT of linux/threads.h on 64-bit machines. */
const MAX_PID = 4_194_304;
const MAX_UINT32 = 0xffff_ffff;
const PRINTABLE = /^\P{Cc}*$/u;
const OCTAL_MODE = /^[0-7]{1,6}$/;
const SIGNAL_NAME = /^SIG[A-Z0-9+-]{1,16}$/;
const SHA256_HEX = /^[0-9a-f]{64}$/;
const FILE_NAME = /^(?!\.{1,2}$)[^/\0]+$/;

const label = (fields: AnswerFields, name: string): string => fields.string(name, MAX_LABEL_LENGTH, PRINTABLE);

/** Answer to `ping`. */
export const parsePong: AnswerParser<Pong> = parser('pong', (f) => ({
  nonce: f.string('nonce', MAX_NONCE_LENGTH),
  protocol: f.integer('protocol', 1, MAX_UINT32),
  agentVersion: label(f, 'agentVersion'),
  bootId: label(f, 'bootId'),
  uptimeMs: f.integer('uptimeMs'),
  kernel: label(f, 'kernel'),
  hostname: label(f, 'hostname'),
  egress: f.boolean('egress'),
}));

/** First answer to `exec`. */
export const parseExecStarted: AnswerParser<ExecStarted> = parser('started', (f) => ({
  execId: f.string('execId', 64, ID_PATTERN),
  pid: f.integer('pid', 1, MAX_PID),
}));

/** Last answer to `exec`. */
export const parseExecExit: AnswerParser<ExecExit> = parser('exit', (f) => ({
  code: f.nullable('code', (name) => f.integer(name, 0, 255)),
  signal: f.nullable('signal', (name) => f.string(name, 20, SIGNAL_NAME)),
  timedOut: f.boolean('timedOut'),
  stdoutBytes: f.integer('stdoutBytes'),
  stderrBytes: f.integer('stderrBytes'),
  durationMs: f.integer('durationMs'),
}));

/** Answer without properties. */
export const parseOk: AnswerParser<void> = parser('ok', () => undefined);

/** Answer to `put`. */
export const parsePutResult: AnswerParser<PutResult> = parser('ok', (f) => ({
  entries: f.integer('entries'),
  bytes: f.integer('bytes'),
}));

/** Last answer to `get`. */
export const parseGetEnd: AnswerParser<GetEnd> = parser('end', (f) => ({
  bytes: f.integer('bytes'),
  sha256: f.string('sha256', 64, SHA256_HEX),
}));

/** First answer to `tail`. */
export const parseTailStart: AnswerParser<TailPosition> = parser('ok', (f) => ({ offset: f.integer('offset') }));

/** Last answer to `tail`. */
export const parseTailEof: AnswerParser<TailPosition> = parser('eof', (f) => ({ offset: f.integer('offset') }));

const readFile = (f: AnswerFields): Omit<FileEntry, 'name'> => ({
  kind: f.oneOf('kind', FILE_KINDS),
  size: f.integer('size'),
  mode: f.string('mode', 6, OCTAL_MODE),
  mtimeMs: f.integer('mtimeMs', Number.MIN_SAFE_INTEGER),
});

/** Answer to `stat`. */
export const parseStat: AnswerParser<FileStat> = parser('stat', (f) => ({
  ...readFile(f),
  uid: f.integer('uid', 0, MAX_UINT32),
  gid: f.integer('gid', 0, MAX_UINT32),
}));

/** Answer to `list`. */
export const parseList: AnswerParser<FileList> = parser('list', (f) => ({
  entries: f
    .objects('entries', MAX_LIST_ENTRIES)
    .map((entry) => ({ name: entry.string('name', MAX_NAME_LENGTH, FILE_NAME), ...readFile(entry) })),
  truncated: f.boolean('truncated'),
}));

/** Answer to `metrics`. */
export const parseMetrics: AnswerParser<GuestMetrics> = parser('metrics', (f) => ({
  load1: f.number('load1'),
  memoryTotalKib: f.integer('memoryTotalKib'),
  memoryAvailableKib: f.integer('memoryAvailableKib'),
  diskTotalKib: f.integer('diskTotalKib'),
  diskFreeKib: f.integer('diskFreeKib'),
  processes: f.integer('processes'),
  execs: f.integer('execs'),
  cpuBusyTicks: f.integer('cpuBusyTicks'),
  cpuTotalTicks: f.integer('cpuTotalTicks'),
}));

/** Each answer to `watch`. */
export const parseBeat: AnswerParser<Beat> = parser('beat', (f) => ({
  uptimeMs: f.integer('uptimeMs'),
  rootReadonly: f.boolean('rootReadonly'),
  initStopping: f.boolean('initStopping'),
  execs: f.integer('execs'),
}));
