import { pipeline } from 'node:stream/promises';
import { Controller, Get, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { vmError } from '@inquest/contracts-vm';
import { encodeControl, encodeData } from '@inquest/frame-protocol';
import type { GuestExec } from '@inquest/guest-link';
import { SignedUrl } from '@inquest/http';
import { isDomainError, toDomainError } from '@inquest/kernel';
import { execOptions, present } from './guest-verbs.service';
import { LiveMachines } from './live-machines';
import { StreamTickets } from './stream-tickets';

/** One tree or file out of a guest. The caller has its own, smaller limit. */
const MAX_GET_BYTES = 64 * 1024 * 1024 * 1024;

/** Byte streams to and from guests, each opened by a ticket. Nothing is held here: a slow reader slows the guest. */
@Controller('v1/streams')
@SignedUrl()
export class StreamsController {
  constructor(
    private readonly tickets: StreamTickets,
    private readonly machines: LiveMachines,
  ) {}

  /**
   * The answer is guest-protocol frames: output, then `exit`. The body is the command's standard input where the ticket
   * asked for one. The caller's hanging up kills the command.
   */
  @Post(':ticket')
  async exec(@Param('ticket') ticket: string, @Req() body: Request, @Res() response: Response): Promise<void> {
    const request = this.tickets.redeem(ticket, 'exec');
    if (request.command === null) throw vmError('STREAM_TICKET_INVALID', 'an exec needs a command');
    const machine = await this.machines.require(request);
    const gone = whenGone(response);
    const exec = await machine.agent
      .exec({ shell: request.command }, { ...execOptions(request), stdin: request.stdin, signal: gone })
      .catch(async (e: unknown) => Promise.reject((await this.machines.explain(machine, e)) as Error));
    response.status(200).type('application/vnd.inquest.frames');
    response.flushHeaders();
    if (request.stdin) void feedInput(body, exec);
    try {
      await copyOutput(exec, response, gone);
      const exit = await exec.exit;
      response.end(encodeControl({ type: 'exit', ...exit }));
    } catch (e) {
      // The headers are out: the failure travels as the stream's last frame, unless nobody listens any more.
      const error = toDomainError(await this.machines.explain(machine, e));
      if (isDomainError(error) && !gone.aborted) response.end(encodeControl({ type: 'lost', ...error.toBody() }));
    }
  }

  @Put(':ticket')
  async put(@Param('ticket') ticket: string, @Req() body: Request, @Res() response: Response): Promise<void> {
    const request = this.tickets.redeem(ticket, 'put');
    const machine = await this.machines.require(request);
    const target = {
      dest: requirePath(request.path),
      kind: request.archive,
      ...present({ mode: request.mode, user: request.user }),
    };
    try {
      const { entries, bytes } = await machine.agent.put(target, body, { signal: whenGone(response) });
      response.status(200).json({ entries, bytes });
    } catch (e) {
      throw await this.machines.explain(machine, e);
    }
  }

  /** Breaks off instead of ending when the bytes are not those that the guest declared. */
  @Get(':ticket')
  async get(@Param('ticket') ticket: string, @Res() response: Response): Promise<void> {
    const request = this.tickets.redeem(ticket, 'get');
    const machine = await this.machines.require(request);
    const source = { path: requirePath(request.path), kind: request.archive, exclude: request.exclude };
    const download = await machine.agent
      .get(source, { signal: whenGone(response), maxBytes: MAX_GET_BYTES })
      .catch(async (e: unknown) => Promise.reject((await this.machines.explain(machine, e)) as Error));
    response.status(200).type(request.archive === 'tar' ? 'application/x-tar' : 'application/octet-stream');
    await pipeline(download.content, response).catch(() => response.destroy());
  }
}

/** Ends with the caller's body, or with the command: one that does not read all of its input is no failure. */
async function feedInput(body: Request, exec: GuestExec): Promise<void> {
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) await exec.writeStdin(chunk);
    await exec.endStdin();
  } catch {
    // The command has ended, or the caller is gone: the end of the output says which.
  }
}

async function copyOutput(exec: GuestExec, response: Response, gone: AbortSignal): Promise<void> {
  for await (const { stream, bytes } of exec.output) {
    if (!response.write(encodeData(stream, bytes))) await drained(response, gone);
  }
}

function drained(response: Response, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    gone.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Aborts when the caller hung up before the answer was complete. */
function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort(new Error('the caller hung up')));
  return controller.signal;
}

function requirePath(path: string | null): string {
  if (path !== null) return path;
  throw vmError('STREAM_TICKET_INVALID', 'a transfer needs a path in the guest');
}
