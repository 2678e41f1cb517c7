import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { agentEvents, agentOps, SessionRequest } from '@inquest/contracts-agent';
import { resumeAfter, sendEvents, whenGone } from '@inquest/http';
import { EventBus, RpcClient } from '@inquest/messaging';

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
    @Res() response: Response,
  ): Promise<void> {
    const gone = whenGone(response);
    await this.rpc.call(agentOps.showSession, { sessionId });
    const options = { ids: [sessionId], signal: gone, ...resumeAfter(lastEventId) };
    await sendEvents(response, 'progress', this.events.subscribe(agentEvents.progress, options), gone);
  }
}
