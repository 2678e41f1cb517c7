import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { StagedView } from '@inquest/contracts-publish';
import { dto, type StreamTicket } from '@inquest/contracts-shared';
import { OpenStreamRequest, vmError } from '@inquest/contracts-vm';
import { parseDto } from '@inquest/config';
import { errorFromBody } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';

/** Where the guest has the project. */
const GUEST_PROJECT_PATH = '/mnt/project';
/** A transfer on which nothing moves for this long is given up. */
const IDLE_TIMEOUT_MS = 120_000;

/** The project's tree, as a tar stream, into and out of a machine. Nothing is held in memory. */
@Injectable()
export class GuestTransfer {
  constructor(private readonly machines: VmClient) {}

  /** Puts a tree at the project's place in the guest. Throws what vm-service answers. */
  async put(machineId: string, archive: Readable, signal: AbortSignal): Promise<StagedView> {
    const ticket = await this.ticket(machineId, 'put');
    const response = await exchange(ticket, archive, signal);
    const answer = JSON.parse(await text(response)) as { entries: number; bytes: number };
    return parseDto(StagedView, { entries: answer.entries, sizeBytes: answer.bytes });
  }

  /** The tree in the guest as it is now. The stream breaks off with an error when the machine ends. */
  async get(machineId: string, signal: AbortSignal): Promise<Readable> {
    return exchange(await this.ticket(machineId, 'get'), null, signal);
  }

  private ticket(machineId: string, kind: 'put' | 'get'): Promise<StreamTicket> {
    return this.machines.openStream(
      dto(OpenStreamRequest, { machineId, kind, path: GUEST_PROJECT_PATH, archive: 'tar' }),
    );
  }
}

async function exchange(
  { url, method }: StreamTicket,
  body: Readable | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = httpRequest(url, { method, signal, timeout: IDLE_TIMEOUT_MS });
  request.on('timeout', () => request.destroy(new Error('nothing moved on the stream')));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  const sent = body === null ? Promise.resolve(request.end()) : pipeline(body, request);
  // A refusal may come before all was sent; it says more than the broken pipe.
  const [response] = await Promise.all([answered, sent.catch(() => undefined)]).catch((e: unknown) => {
    throw vmError('MACHINE_LOST', 'the byte stream to the machine broke before it was answered', {}, e);
  });
  if (response.statusCode === 200) return response;
  throw (
    (await problemOf(response)) ??
    vmError('MACHINE_LOST', `the byte stream was refused with status ${response.statusCode}`)
  );
}

async function problemOf(response: IncomingMessage): Promise<Error | null> {
  try {
    const problem = JSON.parse(await text(response)) as Record<string, unknown>;
    return errorFromBody({ ...problem, message: problem['detail'] });
  } catch {
    return null;
  }
}
