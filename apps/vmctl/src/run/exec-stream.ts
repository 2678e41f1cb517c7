import type { Readable, Writable } from 'node:stream';
import { FrameDecoder, guestReportedError, parseExecExit, type ExecExit, type Frame } from '@inquest/frame-protocol';
import { isDomainError } from '@inquest/kernel';

/** Where a command's output goes. */
export interface OutputSinks {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/**
 * Copies a command's output to its sinks as it comes, waiting for a slow one. Gives the command's end, or null when the
 * transport died before it arrived. Throws what the guest reported when the command could not be run, and the reason of
 * `signal` when that ended the transport.
 */
export async function followExec(stream: Readable, sinks: OutputSinks, signal: AbortSignal): Promise<ExecExit | null> {
  const decoder = new FrameDecoder();
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      for (const frame of decoder.push(chunk)) {
        const exit = await take(frame, sinks);
        if (exit !== null) return exit;
      }
    }
  } catch (e) {
    // A typed error is an answer; anything else is the transport, whose death says nothing about the command.
    if (isDomainError(e)) throw e;
    signal.throwIfAborted();
  }
  return null;
}

async function take(frame: Frame, { stdout, stderr }: OutputSinks): Promise<ExecExit | null> {
  if (frame.kind === 'stdout') await write(stdout, frame.bytes);
  if (frame.kind === 'stderr') await write(stderr, frame.bytes);
  if (frame.kind !== 'control') return null;
  if (frame.body['type'] === 'error') throw guestReportedError(frame.body);
  return frame.body['type'] === 'exit' ? parseExecExit(frame.body) : null;
}

function write(sink: Writable, data: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => sink.write(data, (e) => (e ? reject(e) : resolve())));
}
