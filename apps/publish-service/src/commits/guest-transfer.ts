import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { StagedView } from '@inquest/contracts-publish';
import { dto, type StreamTicket } from '@inquest/contracts-base';
import { OpenStreamRequest, vmError } from '@inquest/contracts-vm';
import { parseDto } from '@inquest/config';
import { errorFromBody, isDomainError, kernelError } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';

/** Where the guest has the project. */
const GUEST_PROJECT_PATH = '/mnt/project';
/** A transfer on which nothing moves for this long is given up. */
const IDLE_TIMEOUT_MS = 120_000;
/** An answer that is no tree: a summary or a problem. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The project's tree, as a tar stream, into and out of a machine. Nothing is held in memory. */
@Injectable()
export class GuestTransfer {
  constructor(private readonly machines: VmClient) {}

  /**
   * Puts a tree at the project's place in the guest. Throws what vm-service answers, what `archive` fails with,
   * `MACHINE_LOST` when the stream breaks, and `DEADLINE_EXCEEDED` once `signal` aborts.
   */
  async put(machineId: string, archive: Readable, signal: AbortSignal): Promise<StagedView> {
    try {
      const response = await exchange(await this.ticket(machineId, 'put', signal), archive, signal);
      const { entries, bytes: sizeBytes } = await readAnswer(response);
      return parseDto(StagedView, { entries, sizeBytes });
    } catch (e) {
      throw transferFailure(e, signal);
    } finally {
      archive.destroy();
    }
  }

  /** The tree in the guest as it is now. Throws as `put` does; so does the stream when it breaks off in the middle. */
  async get(machineId: string, signal: AbortSignal): Promise<Readable> {
    try {
      const response = await exchange(await this.ticket(machineId, 'get', signal), null, signal);
      return Readable.from(explained(response, signal), { objectMode: false });
    } catch (e) {
      throw transferFailure(e, signal);
    }
  }

  private ticket(machineId: string, kind: 'put' | 'get', signal: AbortSignal): Promise<StreamTicket> {
    const request = dto(OpenStreamRequest, { machineId, kind, path: GUEST_PROJECT_PATH, archive: 'tar' });
    return this.machines.openStream(request, { signal });
  }
}

/** The answer to the request of a ticket, once it is a good one. Throws the problem that was answered instead. */
async function exchange(
  { url, method }: StreamTicket,
  body: Readable | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = httpRequest(url, { method, signal, timeout: IDLE_TIMEOUT_MS });
  request.on('timeout', () => request.destroy(new Error('nothing moved on the stream')));
  try {
    const answered = answerTo(request);
    if (body === null) request.end();
    // A failure of either side destroys the request, and is what waiting for its answer ends with.
    else pipeline(body, request).catch(() => undefined);
    const response = await answered;
    if (response.statusCode === 200) return response;
    throw errorFromBody(await problemOf(response)) ?? refused(response);
  } catch (e) {
    // What was not sent yet is of no use to anybody.
    request.destroy();
    throw e;
  }
}

const answerTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });

/** The bytes of a response; a break in the middle is told as what it means. */
async function* explained(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
  } catch (e) {
    throw transferFailure(e, signal);
  }
}

async function readAnswer(response: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
}

/** An RFC 9457 problem in the shape of an error; null when the answer is something else. */
async function problemOf(response: IncomingMessage): Promise<object | null> {
  const problem = await readAnswer(response).catch(() => null);
  return problem === null ? null : { ...problem, message: problem['detail'] };
}

const refused = ({ statusCode }: IncomingMessage): Error =>
  vmError('MACHINE_LOST', `the byte stream to the machine was refused with status ${statusCode}`);

function transferFailure(e: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return kernelError('DEADLINE_EXCEEDED', 'moving the tree of the project took too long', {}, e);
  if (isDomainError(e)) return e;
  return vmError('MACHINE_LOST', 'the byte stream to the machine broke off', {}, e);
}
