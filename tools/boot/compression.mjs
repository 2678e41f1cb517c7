import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import { BootToolError, packageAdvice } from './run-tool.mjs';

const gunzipAsync = promisify(gunzip);

/** An unpacked kernel has some 60 MB; what is larger than this is not one. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;
/** Unpacking takes a second; on a busy machine perhaps twenty. */
const TIMEOUT_MS = 5 * 60 * 1000;

/** Formats by their first bytes (magic(5)). lz4 is the legacy format, the one the kernel uses. */
const FORMATS = [
  { name: 'gzip', magic: Buffer.from([0x1f, 0x8b]) },
  { name: 'xz', magic: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]), command: ['xz', '-dc', '--single-stream'] },
  { name: 'zstd', magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), command: ['zstd', '-dcq'] },
  { name: 'lz4', magic: Buffer.from([0x02, 0x21, 0x4c, 0x18]), command: ['lz4', '-dcq'] },
];

/**
 * Names the format of compressed bytes.
 *
 * @param {Buffer} packed
 * @returns {'gzip' | 'xz' | 'zstd' | 'lz4' | undefined} undefined for any other
 */
export function compressionOf(packed) {
  return FORMATS.find(({ magic }) => packed.subarray(0, magic.length).equals(magic))?.name;
}

/**
 * Unpacks bytes of one of the known formats.
 *
 * @param {Buffer} packed
 * @param {string} what the object, for messages
 * @returns {Promise<Buffer>}
 * @throws {BootToolError} when the format is unknown, its program is missing, or the bytes are damaged
 */
export async function unpack(packed, what) {
  const name = compressionOf(packed);
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (!format) {
    throw new BootToolError(
      `${what} is compressed in an unknown way (it begins with ${packed.subarray(0, 6).toString('hex')})`,
      'Use a kernel package whose payload is gzip, xz, zstd or lz4.',
    );
  }
  try {
    return format.command
      ? await filter(format.command, packed)
      : await gunzipAsync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (error) {
    if (error.code === 'ENOENT') {
      throw new BootToolError(
        `The program ${format.command[0]} is not installed`,
        packageAdvice(format.command[0]),
        error,
      );
    }
    throw new BootToolError(
      `${what} cannot be unpacked: ${error.message}`,
      'Remove the cached package, which is probably damaged, and run this again.',
      error,
    );
  }
}

async function filter([program, ...args], input) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: TIMEOUT_MS });
  const chunks = [];
  let sizeBytes = 0;
  let words = '';
  child.stdout.on('data', (chunk) => {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_UNPACKED_BYTES) child.kill();
    else chunks.push(chunk);
  });
  child.stderr.on('data', (chunk) => {
    words = (words + chunk).slice(0, 1000);
  });
  // A program that fails closes its input early; its exit tells why.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}: ${words.trim()}`);
  return Buffer.concat(chunks);
}
