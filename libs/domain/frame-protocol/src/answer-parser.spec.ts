import { isDomainError } from '@inquest/kernel';
import fc from 'fast-check';
import {
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
import { frameError, GUEST_ERROR_CODES } from './errors';
import { type JsonObject } from './frame';
import { MAX_LIST_ENTRIES } from './limits';

const FILE = { kind: 'dir', size: 4096, mode: '0755', mtimeMs: -1 };
const PONG = {
  nonce: 'n',
  protocol: 1,
  agentVersion: '0.1.0',
  bootId: 'b',
  uptimeMs: 1,
  kernel: '6.1.0',
  hostname: 'h',
  egress: true,
};
const EXIT = { code: 0, signal: null, timedOut: false, stdoutBytes: 0, stderrBytes: 0, durationMs: 1 };
const METRICS = {
  load1: 0.5,
  memoryTotalKib: 1,
  memoryAvailableKib: 1,
  diskTotalKib: 1,
  diskFreeKib: 1,
  processes: 1,
  execs: 0,
  cpuBusyTicks: 1,
  cpuTotalTicks: 2,
};

interface GoodAnswer {
  readonly name: string;
  readonly parse: AnswerParser<unknown>;
  readonly type: string;
  readonly properties: JsonObject;
}

const GOOD: readonly GoodAnswer[] = [
  { name: 'pong', parse: parsePong, type: 'pong', properties: PONG },
  { name: 'started', parse: parseExecStarted, type: 'started', properties: { execId: 'e-1', pid: 7 } },
  { name: 'exit', parse: parseExecExit, type: 'exit', properties: EXIT },
  { name: 'stored', parse: parsePutResult, type: 'ok', properties: { entries: 1, bytes: 2 } },
  { name: 'end', parse: parseGetEnd, type: 'end', properties: { bytes: 0, sha256: 'a'.repeat(64) } },
  { name: 'tail start', parse: parseTailStart, type: 'ok', properties: { offset: 3 } },
  { name: 'tail end', parse: parseTailEof, type: 'eof', properties: { offset: 3 } },
  { name: 'stat', parse: parseStat, type: 'stat', properties: { ...FILE, uid: 0, gid: 0 } },
  { name: 'list', parse: parseList, type: 'list', properties: { entries: [{ name: 'a', ...FILE }], truncated: false } },
  { name: 'metrics', parse: parseMetrics, type: 'metrics', properties: METRICS },
  {
    name: 'beat',
    parse: parseBeat,
    type: 'beat',
    properties: { uptimeMs: 1, rootReadonly: false, initStopping: true, execs: 0 },
  },
];

const thrown = (act: () => unknown): unknown => {
  try {
    act();
    return null;
  } catch (e) {
    return e;
  }
};

describe('answer parsers', () => {
  it.each(GOOD)('take the properties of $name and nothing else', ({ parse, type, properties }) => {
    expect(parse({ type, ...properties, later: 'ignored' })).toEqual(properties);
  });

  it.each(GOOD)('refuse $name when any one property is missing', ({ parse, type, properties }) => {
    for (const name of Object.keys(properties)) {
      const rest = Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name));
      expect(thrown(() => parse({ type, ...rest }))).toMatchObject({
        code: 'ANSWER_INVALID',
        details: { property: name },
      });
    }
  });

  it.each(GOOD)('throw nothing but protocol errors for $name with hostile values', ({ parse, type, properties }) => {
    const names = Object.keys(properties);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
        const error = thrown(() => parse({ type, ...properties, [name]: value }));
        expect(error === null || (isDomainError(error) && error.code === 'ANSWER_INVALID')).toBe(true);
      }),
    );
  });

  it('refuse an answer of another type as out of order', () => {
    expect(() => parsePong({ type: 'ok' })).toThrow(
      expect.objectContaining({ code: 'FRAME_ORDER_INVALID', fault: 'guest' }),
    );
    expect(() => parseOk({})).toThrow(expect.objectContaining({ code: 'FRAME_ORDER_INVALID' }));
  });

  it.each(['', '.', '..', 'a/b', 'a\0b', 'x'.repeat(256)])('refuse the file name %j in a list', (name) => {
    const body = { type: 'list', entries: [{ name, ...FILE }], truncated: false };
    expect(() => parseList(body)).toThrow(expect.objectContaining({ code: 'ANSWER_INVALID' }));
  });

  it('refuse more entries than a list may have', () => {
    const entries = Array.from({ length: MAX_LIST_ENTRIES + 1 }, (_, i) => ({ name: `${i}`, ...FILE }));
    expect(() => parseList({ type: 'list', entries, truncated: true })).toThrow(
      expect.objectContaining({ code: 'ANSWER_INVALID' }),
    );
  });

  it.each([-1, 256, 1.5, Number.MAX_SAFE_INTEGER + 1, '0'])('refuse the exit code %p', (code) => {
    expect(() => parseExecExit({ type: 'exit', ...EXIT, code })).toThrow(
      expect.objectContaining({ code: 'ANSWER_INVALID' }),
    );
  });

  it('do not take a property from the prototype', () => {
    const body = Object.create({ type: 'started', execId: 'e-1', pid: 7 }) as JsonObject;
    expect(() => parseExecStarted(body)).toThrow(expect.objectContaining({ code: 'FRAME_ORDER_INVALID' }));
  });
});

describe('errors that a guest reports', () => {
  it.each(GUEST_ERROR_CODES)('%s keeps its code and has the fault of its row', (code) => {
    const error = thrown(() => parseOk({ type: 'error', code, message: 'why' }));
    const row = frameError.table[code as keyof typeof frameError.table];
    expect(error).toMatchObject({ code, fault: row.fault, message: 'the guest says: why' });
  });

  it.each(['INTERNAL', 'ID_INVALID', '__proto__', 'ANSWER_INVALID', '', 7, null])(
    'a guest may not choose the code %p',
    (code) => {
      const error = thrown(() => parseOk({ type: 'error', code, message: 'x' }));
      expect(error).toMatchObject({ code: 'GUEST_ERROR_UNKNOWN', fault: 'guest' });
    },
  );

  it('have their text cut and made printable', () => {
    const error = thrown(() => parseOk({ type: 'error', code: 'PATH_IO', message: `\u001b[2J${'y'.repeat(100_000)}` }));
    const { message } = error as Error;
    expect(message).not.toContain('\u001b');
    expect(message.length).toBeLessThan(1100);
  });
});
