import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Controller, Get, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { vmError } from '@inquest/contracts-vm';
import { encodeControl, encodeData } from '@inquest/frame-protocol';
import type { GuestExec } from '@inquest/guest-link';
import { SignedUrl } from '@inquest/http';
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
   * The answer is guest-protocol frames: output, then `exit`, or `lost` with the error when the machine went with the
   * command. The body is the command's standard input where the ticket asked for one. The caller's hanging up kills the
   * command.
   */
  @Post(':ticket')
  async exec(@Param('ticket') ticket: string, @Req() body: Request, @Res() response: Response): Promise<void> {
    const gone = whenGone(response);
    const request = this.tickets.redeem(ticket, 'exec');
    const { command: shell, stdin } = request;
    if (shell === null) throw vmError('STREAM_TICKET_INVALID', 'an exec needs a command');
    const machine = await this.machines.require(request);
    const exec = await this.machines.run(machine, () =>
      machine.agent.exec({ shell }, { ...execOptions(request), stdin, signal: gone }),
    );
    beginFrames(response);
    if (stdin) void feedInput(body, exec);
    try {
      await copyOutput(exec, response, gone);
      response.end(encodeControl({ type: 'exit', ...(await exec.exit) }));
    } catch (e) {
      if (gone.aborted) return;
      // The headers are out: the failure travels as the stream's last frame.
      const error = await this.machines.explain(machine, e);
      response.end(encodeControl({ type: 'lost', ...error.toBody() }));
    }
  }

  /** Takes a tar, or one file, as the body. Answers what the guest stored, or with its refusal as soon as it refuses. */
  @Put(':ticket')
  async put(@Param('ticket') ticket: string, @Req() body: Request, @Res() response: Response): Promise<void> {
    const gone = whenGone(response);
    const request = this.tickets.redeem(ticket, 'put');
    const machine = await this.machines.require(request);
    const target = {
      dest: requirePath(request.path),
      kind: request.archive,
      ...present({ mode: request.mode, user: request.user }),
    };
    const { entries, bytes } = await this.machines.run(machine, () =>
      machine.agent.put(target, detached(body), { signal: gone }),
    );
    response.status(200).json({ entries, bytes });
  }

  /** Breaks off instead of ending when the bytes are not those that the guest declared. */
  @Get(':ticket')
  async get(@Param('ticket') ticket: string, @Res() response: Response): Promise<void> {
    const gone = whenGone(response);
    const request = this.tickets.redeem(ticket, 'get');
    const machine = await this.machines.require(request);
    const source = { path: requirePath(request.path), kind: request.archive, exclude: request.exclude };
    const download = await this.machines.run(machine, () =>
      machine.agent.get(source, { signal: gone, maxBytes: MAX_GET_BYTES }),
    );
    response.status(200).type(request.archive === 'tar' ? 'application/x-tar' : 'application/octet-stream');
    await pipeline(download.content, response).catch(() => response.destroy());
  }

  /**
   * The answer is guest-protocol frames: where it begins, the file's bytes as it grows, and where the next tail goes on.
   * A machine that goes away ends it like any other end: what was read is what there was.
   */
  @Get(':ticket/tail')
  async tail(@Param('ticket') ticket: string, @Res() response: Response): Promise<void> {
    const gone = whenGone(response);
    const request = this.tickets.redeem(ticket, 'tail');
    const machine = await this.machines.require(request);
    const { fromOffset, idleMs } = request;
    const file = await this.machines.run(machine, () =>
      machine.agent.tail({ path: requirePath(request.path), fromOffset, idleMs }, { signal: gone }),
    );
    beginFrames(response);
    try {
      response.write(encodeControl({ type: 'ok', offset: file.offset }));
      for await (const bytes of file) {
        if (!response.write(encodeData('data-from-guest', bytes))) await once(response, 'drain', { signal: gone });
      }
      response.end(encodeControl({ type: 'eof', offset: file.offset }));
    } catch {
      // A guest that breaks the protocol, or a caller that hung up: a cut answer is no end.
      response.destroy();
    }
  }
}

function beginFrames(response: Response): void {
  response.status(200).type('application/vnd.inquest.frames');
  response.flushHeaders();
}

/** Ends with the caller's body, or with the command: one that does not read all of its input is no failure. */
async function feedInput(body: Request, exec: GuestExec): Promise<void> {
  try {
    // Leaving the loop must not destroy the body: its connection carries the answer.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      await exec.writeStdin(chunk);
    }
    await exec.endStdin();
  } catch {
    // The command has ended, or the caller is gone: the end of the output says which.
    body.resume();
  }
}

/** A body whose reader may break off; the rest is then read and dropped, so that the answer still gets through. */
function detached(body: Request): PassThrough {
  const content = new PassThrough();
  content.once('close', () => {
    body.unpipe(content);
    body.resume();
  });
  return body.pipe(content);
}

async function copyOutput(exec: GuestExec, response: Response, gone: AbortSignal): Promise<void> {
  for await (const { stream, bytes } of exec.output) {
    if (!response.write(encodeData(stream, bytes))) await once(response, 'drain', { signal: gone });
  }
}

/** Aborts when the connection of the answer closes: the caller hung up, or has got all of it. */
function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  const hangUp = (): void => controller.abort(new Error('the caller hung up'));
  if (response.destroyed) hangUp();
  else response.once('close', hangUp);
  return controller.signal;
}

function requirePath(path: string | null): string {
  if (path !== null) return path;
  throw vmError('STREAM_TICKET_INVALID', 'a transfer needs a path in the guest');
}
