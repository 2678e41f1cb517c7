import { Controller, Get, Headers, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { agentEvents, agentOps, SessionRequest } from '@inquest/contracts-agent';
import { EventBus, RpcClient } from '@inquest/messaging';

/** A comment this often keeps proxies and clients from taking a quiet stream for a dead one. */
const KEEPALIVE_MS = 15_000;

/** The progress of a session as server-sent events, each a transcript entry. */
@Controller('v1/sessions/:sessionId/events')
export class SessionEventsController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly events: EventBus,
  ) {}

  /**
   * From the session's first entry, or behind the one that `Last-Event-ID` names (the id is the event's place in the
   * stream). Never ends by itself: the entry `session_closed` says that no more will come.
   */
  @Get()
  async follow(
    @Param() { sessionId }: SessionRequest,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.rpc.call(agentOps.showSession, { sessionId });
    const controller = new AbortController();
    request.once('close', () => controller.abort(new Error('the watcher is gone')));
    response.status(200).type('text/event-stream').setHeader('cache-control', 'no-store');
    response.flushHeaders();
    const keepalive = setInterval(() => response.write(': keepalive\n\n'), KEEPALIVE_MS);
    try {
      const options = { ids: [sessionId], signal: controller.signal, ...resumeAfter(lastEventId) };
      for await (const { sequence, body } of this.events.subscribe(agentEvents.progress, options)) {
        const isRoomLeft = response.write(`id: ${sequence}\nevent: progress\ndata: ${JSON.stringify(body)}\n\n`);
        if (!isRoomLeft) await drained(response, controller.signal);
      }
    } finally {
      clearInterval(keepalive);
      response.end();
    }
  }
}

/** A header that is not a sequence is ignored, as the standard says for unknown ids: the watcher starts over. */
function resumeAfter(lastEventId: string | undefined): { fromSequence?: number } {
  const sequence = Number(lastEventId);
  return lastEventId !== undefined && Number.isSafeInteger(sequence) && sequence > 0
    ? { fromSequence: sequence + 1 }
    : {};
}

/** A slow watcher slows its own stream, not our memory. */
function drained(response: Response, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
