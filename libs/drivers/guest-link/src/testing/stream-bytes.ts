import { once } from 'node:events';
import { type Duplex, type Readable } from 'node:stream';

/** Everything until the end of the stream, which stays writable. */
export async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Everything until there are `sizeBytes`, or the end of the stream. The stream stays open. */
export async function readBytes(stream: Readable, sizeBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    receivedBytes += (chunk as Buffer).length;
    if (receivedBytes >= sizeBytes) break;
  }
  return Buffer.concat(chunks);
}

/** Sends `bytes` to a peer that echoes, receives as many, and ends the stream. */
export async function exchange(stream: Duplex, bytes: Uint8Array, pieceBytes?: number): Promise<Buffer> {
  const [received] = await Promise.all([readBytes(stream, bytes.length), writePieces(stream, bytes, pieceBytes)]);
  stream.resume().end();
  return received;
}

/** Writes `bytes` in pieces of `pieceBytes`, waiting for the reader, and ends the stream. */
export async function writeAll(stream: Duplex, bytes: Uint8Array, pieceBytes?: number): Promise<void> {
  await writePieces(stream, bytes, pieceBytes);
  stream.end();
}

async function writePieces(stream: Duplex, bytes: Uint8Array, pieceBytes = 64 * 1024): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (!stream.write(bytes.subarray(at, at + pieceBytes))) await once(stream, 'drain');
  }
}

/** Sends back what comes in, until its end. */
export const echo = (stream: Duplex): void => void stream.pipe(stream);

/** Resolves once the stream is gone, whatever the reason. */
export const gone = (stream: Duplex): Promise<void> => new Promise((resolve) => stream.once('close', resolve));
