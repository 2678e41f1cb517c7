import type { Readable, Writable } from 'node:stream';
import { FrameDecoder, guestReportedError, parseExecExit, type ExecExit, type Frame } from '@inquest/frame-protocol';
import { isDomainError } from '@inquest/kernel';

/** What the stream of a command gave. `exit` is null when the transport died before the command's own end arrived. */
export interface ExecStreamEnd {
  readonly exit: ExecExit | null;
}

/**
 * Copies a command's output to the two sinks as it comes, waiting for a slow one. Throws what the guest reported when
 * the command could not be run.
 */
export async function followExec(stream: Readable, stdout: Writable, stderr: Writable): Promise<ExecStreamEnd> {
  const decoder = new FrameDecoder();
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      for (const frame of decoder.push(chunk)) {
        const exit = await take(frame, stdout, stderr);
        if (exit !== null) return { exit };
      }
    }
  } catch (e) {
    // A typed error is an answer; anything else is the transport, whose death says nothing about the command.
    if (isDomainError(e)) throw e;
  }
  return { exit: null };
}

async function take(frame: Frame, stdout: Writable, stderr: Writable): Promise<ExecExit | null> {
  if (frame.kind === 'stdout') await write(stdout, frame.bytes);
  if (frame.kind === 'stderr') await write(stderr, frame.bytes);
  if (frame.kind !== 'control') return null;
  if (frame.body['type'] === 'error') throw guestReportedError(frame.body);
  return frame.body['type'] === 'exit' ? parseExecExit(frame.body) : null;
}

function write(sink: Writable, data: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => sink.write(data, (e) => (e ? reject(e) : resolve())));
}
