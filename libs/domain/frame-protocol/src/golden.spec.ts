import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDomainError } from '@inquest/kernel';
import { GUEST_ERROR_CODES } from './errors';
import { type Frame, type FrameKind, type JsonObject } from './frame';
import { FrameDecoder } from './frame-decoder';
import { chunkData, encodeControl, encodeData, encodeEnd } from './frame-encoder';
import { MAX_CONTROL_FRAME_BYTES, MAX_DATA_BYTES, MAX_DATA_FRAME_BYTES } from './limits';

/** What a decoder must give for one vector. Data is compared by length and sha256, so that this file stays readable. */
interface ExpectedFrame {
  readonly kind: FrameKind;
  readonly json?: JsonObject;
  readonly sizeBytes?: number;
  readonly sha256?: string;
}

interface GoldenVector {
  readonly name: string;
  readonly file: string;
  readonly description: string;
  readonly frames: readonly ExpectedFrame[];
  /** Code after these frames, at the end of the bytes at the latest; null when the bytes are valid. */
  readonly error: string | null;
}

interface GoldenIndex {
  readonly about: string;
  readonly guestErrorCodes: readonly string[];
  readonly vectors: readonly GoldenVector[];
}

interface VectorSource {
  readonly name: string;
  readonly description: string;
  readonly bytes: Uint8Array;
  /** Code that the bytes must end with; absent when they are valid. */
  readonly error?: string;
}

const GOLDEN_DIR = join(__dirname, '..', 'golden');
const ABOUT =
  'Frame vectors for both sides. Feed each file to a decoder in any split: it must give these frames, then this error ' +
  '(null: none), counting the end of the file as the end of the stream. Data frames are given by size and sha256 of their ' +
  'data without the kind byte. guestErrorCodes are the only codes that an error answer may have. ' +
  'Rewrite: INQUEST_UPDATE_GOLDEN=1 npx jest --selectProjects unit -- libs/domain/frame-protocol/src/golden.spec.ts';

const concat = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const raw = (length: number, ...payload: readonly number[]): Uint8Array => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(length);
  return concat(prefix, Uint8Array.from(payload));
};
const rawText = (text: string): Uint8Array => raw(Buffer.byteLength(text), ...Buffer.from(text));
const allByteValues = Uint8Array.from({ length: 256 }, (_, value) => value);
const ping = encodeControl({ op: 'ping', nonce: 'n1' });

const REQUESTS: readonly object[] = [
  { op: 'ping', nonce: 'n1' },
  {
    op: 'exec',
    argv: ['printf', 'a b\n', 'ü€😀', ''],
    cwd: '/tmp',
    env: { KEY: 'a=b', EMPTY: '' },
    user: 'agent',
    timeoutMs: 1500,
  },
  { op: 'exec', shell: 'cat > "$HOME/x"', stdin: true },
  { op: 'exec', shell: 'sleep 600', detach: true },
  { op: 'exec', argv: ['/bin/sh', '-i'], pty: { cols: 80, rows: 24, term: 'xterm-256color' } },
  { op: 'signal', execId: 'e-1', signal: 'SIGTERM' },
  { op: 'resize', execId: 'e-1', cols: 132, rows: 43 },
  { op: 'put', dest: '/srv/site', kind: 'tar', user: 'agent' },
  { op: 'put', dest: '/etc/motd', kind: 'file', mode: '0644' },
  { op: 'get', path: '/srv/site', kind: 'tar', exclude: ['node_modules', '**/*.log'] },
  { op: 'tail', path: '/var/log/build', fromOffset: 4096, idleMs: 15000, maxMs: 3600000 },
  { op: 'stat', path: '/etc/passwd' },
  { op: 'list', path: '/etc', limit: 10 },
  { op: 'remove', path: '/tmp/x', recursive: true },
  { op: 'metrics' },
  { op: 'clock', setToMs: 1767225600123 },
  { op: 'watch' },
  { op: 'shutdown', mode: 'poweroff' },
  { op: 'quiesce' },
  {
    op: 'rebirth',
    nonce: 'n2',
    setToMs: 1767225600123,
    hostname: 'clone-7',
    machineId: '0123456789abcdef0123456789abcdef',
    entropy: 'a5'.repeat(32),
  },
  { op: 'offer', egress: true, localModel: false },
  { op: 'mount', tag: 'share0', path: '/mnt/share' },
  { op: 'reach', address: '10.190.239.2', timeoutMs: 10_000 },
];

const FILE = { kind: 'file', size: 1234, mode: '0644', mtimeMs: 1767225600123 };

const ANSWERS: readonly object[] = [
  {
    type: 'pong',
    nonce: 'n1',
    protocol: 1,
    agentVersion: '0.1.0',
    bootId: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
    uptimeMs: 4200,
    kernel: '6.1.0-37-amd64',
    hostname: 'tiny',
    egress: false,
  },
  { type: 'started', execId: 'e-1', pid: 431 },
  { type: 'exit', code: 3, signal: null, timedOut: false, stdoutBytes: 256, stderrBytes: 0, durationMs: 12 },
  { type: 'exit', code: null, signal: 'SIGKILL', timedOut: true, stdoutBytes: 0, stderrBytes: 0, durationMs: 1500 },
  { type: 'ok' },
  { type: 'ok', entries: 12, bytes: 34567 },
  { type: 'end', bytes: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  { type: 'ok', offset: 4096 },
  { type: 'eof', offset: 8192 },
  { type: 'stat', ...FILE, uid: 0, gid: 0 },
  { type: 'list', entries: [{ name: 'pass wd', ...FILE }], truncated: false },
  {
    type: 'metrics',
    load1: 0.25,
    memoryTotalKib: 262144,
    memoryAvailableKib: 200000,
    diskTotalKib: 65536,
    diskFreeKib: 60000,
    processes: 23,
    execs: 1,
    cpuBusyTicks: 100,
    cpuTotalTicks: 4000,
  },
  { type: 'beat', uptimeMs: 4200, rootReadonly: false, initStopping: true, execs: 0 },
  { type: 'error', code: 'EXEC_NOT_FOUND', message: 'no program "nope" on PATH' },
];

const SOURCES: readonly VectorSource[] = [
  { name: 'empty', description: 'no bytes at all: a stream that ends between frames', bytes: new Uint8Array(0) },
  { name: 'requests', description: 'every op with its properties', bytes: concat(...REQUESTS.map(encodeControl)) },
  { name: 'answers', description: 'every type of answer', bytes: concat(...ANSWERS.map(encodeControl)) },
  {
    name: 'exec-output',
    description: 'started, all 256 byte values on both outputs, exit',
    bytes: concat(
      encodeControl({ type: 'started', execId: 'e-1', pid: 431 }),
      encodeData('stdout', allByteValues),
      encodeData('stderr', allByteValues.toReversed()),
      encodeData('stdout', Buffer.from('no newline at the end')),
      encodeControl({
        type: 'exit',
        code: 0,
        signal: null,
        timedOut: false,
        stdoutBytes: 277,
        stderrBytes: 256,
        durationMs: 7,
      }),
    ),
  },
  {
    name: 'put-file',
    description: 'a request, its data in two frames, end',
    bytes: concat(
      encodeControl({ op: 'put', dest: '/tmp/x', kind: 'file' }),
      encodeData('data-to-guest', Buffer.from('hello ')),
      encodeData('data-to-guest', Buffer.from('world\n')),
      encodeEnd(),
    ),
  },
  {
    name: 'data-empty',
    description: 'a data frame without data is valid',
    bytes: encodeData('data-from-guest', new Uint8Array(0)),
  },
  {
    name: 'data-at-limit',
    description: 'a data frame of exactly 256 KiB, kind byte included, and one byte that needs a second frame',
    bytes: concat(...chunkData('data-from-guest', new Uint8Array(MAX_DATA_BYTES + 1).fill(0x61))),
  },
  {
    name: 'json-escapes',
    description: 'escaped and raw non-ASCII text',
    bytes: rawText('{"op":"ping","nonce":"\\u00fc\\ud83d\\ude00ü😀"}'),
  },
  {
    name: 'json-spaces',
    description: 'white space inside and after the object',
    bytes: rawText('{ "op" : "ping" }\n'),
  },
  {
    name: 'json-unknown-property',
    description: 'unknown properties are no frame error',
    bytes: rawText('{"op":"ping","later":[1,{"a":null}]}'),
  },
  {
    name: 'length-zero',
    error: 'FRAME_EMPTY',
    description: 'the length 0, after a good frame',
    bytes: concat(ping, raw(0)),
  },
  {
    name: 'length-above-all',
    error: 'FRAME_OVERSIZED',
    description: 'a length above 1 MiB is refused before any payload',
    bytes: concat(ping, raw(MAX_CONTROL_FRAME_BYTES + 1)),
  },
  { name: 'length-maximal', error: 'FRAME_OVERSIZED', description: 'the length 2^32-1', bytes: raw(0xffff_ffff) },
  {
    name: 'data-above-limit',
    error: 'FRAME_OVERSIZED',
    description: 'a data frame of 256 KiB and one byte',
    bytes: raw(MAX_DATA_FRAME_BYTES + 1, 0x01),
  },
  {
    name: 'end-with-data',
    error: 'FRAME_OVERSIZED',
    description: 'an end frame longer than its kind byte',
    bytes: raw(2, 0x04, 0x00),
  },
  {
    name: 'kind-unknown',
    error: 'FRAME_KIND_UNKNOWN',
    description: 'the first unused kind byte',
    bytes: raw(3, 0x05, 0x61, 0x61),
  },
  {
    name: 'json-array',
    error: 'FRAME_KIND_UNKNOWN',
    description: 'a JSON array is no control frame',
    bytes: rawText('[{"op":"ping"}]'),
  },
  {
    name: 'json-leading-space',
    error: 'FRAME_KIND_UNKNOWN',
    description: 'white space before the brace is no kind',
    bytes: rawText(' {"op":"ping"}'),
  },
  {
    name: 'json-cut',
    error: 'FRAME_JSON_INVALID',
    description: 'an object without its last brace',
    bytes: rawText('{"op":"ping"'),
  },
  {
    name: 'json-two-objects',
    error: 'FRAME_JSON_INVALID',
    description: 'two objects in one frame',
    bytes: rawText('{"op":"ping"}{"op":"ping"}'),
  },
  {
    name: 'json-not-utf8',
    error: 'FRAME_JSON_INVALID',
    description: 'a lone 0xff in a string',
    bytes: raw(7, 0x7b, 0x22, 0x61, 0xff, 0x22, 0x3a, 0x31),
  },
  {
    name: 'truncated-length',
    error: 'FRAME_TRUNCATED',
    description: 'the stream ends inside a length',
    bytes: concat(ping, Uint8Array.of(0, 0)),
  },
  {
    name: 'truncated-before-kind',
    error: 'FRAME_TRUNCATED',
    description: 'the stream ends after a length',
    bytes: raw(5),
  },
  {
    name: 'truncated-control',
    error: 'FRAME_TRUNCATED',
    description: 'the stream ends inside a control frame',
    bytes: ping.subarray(0, ping.length - 1),
  },
  {
    name: 'truncated-data',
    error: 'FRAME_TRUNCATED',
    description: 'the stream ends inside a data frame',
    bytes: concat(ping, raw(100, 0x01, 0x61)),
  },
];

const decode = (chunks: readonly Uint8Array[]): Pick<GoldenVector, 'frames' | 'error'> => {
  const decoder = new FrameDecoder();
  const frames: ExpectedFrame[] = [];
  try {
    for (const chunk of chunks) for (const frame of decoder.push(chunk)) frames.push(summarize(frame));
    decoder.end();
    return { frames, error: null };
  } catch (e) {
    if (!isDomainError(e)) throw e;
    return { frames, error: e.code };
  }
};

const summarize = (frame: Frame): ExpectedFrame => {
  if (frame.kind === 'end') return { kind: frame.kind };
  if (frame.kind === 'control') return { kind: frame.kind, json: frame.body };
  return {
    kind: frame.kind,
    sizeBytes: frame.bytes.length,
    sha256: createHash('sha256').update(frame.bytes).digest('hex'),
  };
};

const split = (bytes: Uint8Array, sizeBytes: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / sizeBytes) }, (_, i) =>
    bytes.slice(i * sizeBytes, (i + 1) * sizeBytes),
  );

const readIndex = (): GoldenIndex => JSON.parse(readFileSync(join(GOLDEN_DIR, 'index.json'), 'utf8')) as GoldenIndex;

function rewriteGolden(): void {
  const vectors = SOURCES.map(({ name, description, bytes }) => {
    writeFileSync(join(GOLDEN_DIR, `${name}.bin`), bytes);
    return { name, file: `${name}.bin`, description, ...decode([bytes]) };
  });
  const index: GoldenIndex = { about: ABOUT, guestErrorCodes: GUEST_ERROR_CODES, vectors };
  writeFileSync(join(GOLDEN_DIR, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
}

if (process.env['INQUEST_UPDATE_GOLDEN'] === '1') rewriteGolden();

describe('golden frame vectors', () => {
  const index = readIndex();

  it.each(SOURCES)('$name is stored as this encoder writes it', ({ name, bytes }) => {
    expect(readFileSync(join(GOLDEN_DIR, `${name}.bin`)).equals(bytes)).toBe(true);
  });

  it.each(index.vectors)('$name decodes to what the index says in one piece', ({ file, frames, error }) => {
    expect(decode([readFileSync(join(GOLDEN_DIR, file))])).toEqual({ frames, error });
  });

  it.each(index.vectors)('$name decodes to the same in pieces of 1 and of 7 bytes', ({ file, frames, error }) => {
    const bytes = readFileSync(join(GOLDEN_DIR, file));
    expect(decode(split(bytes, 1))).toEqual({ frames, error });
    expect(decode(split(bytes, 7))).toEqual({ frames, error });
  });

  it('lists every vector and every code that a guest may report', () => {
    expect(index.vectors.map((v) => v.name)).toEqual(SOURCES.map((s) => s.name));
    expect(index.guestErrorCodes).toEqual(GUEST_ERROR_CODES);
  });

  it.each(SOURCES)('$name ends with the error that its author meant', ({ name, error }) => {
    expect(index.vectors.find((vector) => vector.name === name)?.error).toBe(error ?? null);
  });
});
