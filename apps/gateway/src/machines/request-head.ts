import type { Readable } from 'node:stream';
import { kernelError } from '@inquest/kernel';

/** The longest command of an `ExecBody`, with its environment and JSON's escapes. */
const MAX_HEAD_BYTES = 512 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads the first line of a body and leaves the rest of it in the stream. Throws `INPUT_INVALID` when the line is too
 * long, never ends, or is no JSON object.
 */
export async function readHead(body: Readable): Promise<object> {
  return parseHead(await readLine(body));
}

function readLine(body: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    const settle = (error: Error | null): void => {
      body.off('readable', take).off('end', onEnd).off('error', settle).off('close', onEnd);
      if (error === null) resolve(Buffer.concat(parts));
      else reject(error);
    };
    const take = (): void => {
      for (let chunk = body.read() as Buffer | null; chunk !== null; chunk = body.read() as Buffer | null) {
        const newline = chunk.indexOf(NEWLINE);
        parts.push(newline < 0 ? chunk : chunk.subarray(0, newline));
        sizeBytes += parts.at(-1)?.length ?? 0;
        if (sizeBytes > MAX_HEAD_BYTES) {
          return settle(
            kernelError('INPUT_INVALID', `the first line of the body is longer than ${MAX_HEAD_BYTES} bytes`),
          );
        }
        if (newline < 0) continue;
        if (newline + 1 < chunk.length) body.unshift(chunk.subarray(newline + 1));
        return settle(null);
      }
    };
    const onEnd = (): void =>
      settle(kernelError('INPUT_INVALID', 'the body ended before the line that says what to run was complete'));
    body.on('readable', take).once('end', onEnd).once('error', settle).once('close', onEnd);
  });
}

function parseHead(line: Buffer): object {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below, like JSON that is no object.
  }
  throw kernelError('INPUT_INVALID', 'the first line of the body is no JSON object');
}
