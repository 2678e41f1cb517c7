import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { Response } from 'express';
import { agentEvents } from '@inquest/contracts-agent';
import { resumeAfter, sendEvents, whenGone } from '@inquest/http';
import { EventBus } from '@inquest/messaging';

/** Room for clocks of the gateway and of the event stream that differ: an event too many does no harm. */
const OVERLAP_MS = 10_000;

/** Changes of all confirmations as server-sent events, each the confirmation as it is from then on. */
@Controller('v1/confirmations/events')
export class ConfirmationEventsController {
  constructor(private readonly events: EventBus) {}

  /**
   * From a moment before the request, or behind the one that `Last-Event-ID` names: whoever lists the open ones once the
   * stream has begun misses none. Never ends by itself.
   */
  @Get()
  async follow(@Headers('last-event-id') lastEventId: string | undefined, @Res() response: Response): Promise<void> {
    const gone = whenGone(response);
    const from = { sinceMs: Date.now() - OVERLAP_MS, ...resumeAfter(lastEventId) };
    const events = this.events.subscribe(agentEvents.confirmationChanged, { signal: gone, ...from });
    await sendEvents(response, 'confirmation', events, gone);
  }
}
