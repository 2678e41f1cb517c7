import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { imageEvents, ImageOperationChanged, ImageOperationRequest, imageOps } from '@inquest/contracts-image';
import { dto, type OperationView } from '@inquest/contracts-base';
import { resumeAfter, sendEvents, whenGone, type ServerSentEvent } from '@inquest/http';
import { EventBus, RpcClient } from '@inquest/messaging';
import { OperationParams } from './images.controller';

/** The steps of an operation on an image as server-sent events. */
@Controller('v1/operations/:operationId/events')
export class OperationEventsController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly events: EventBus,
  ) {}

  /**
   * From the operation's first step, or behind the one that `Last-Event-ID` names. Ends with the operation; of one that has
   * ended already, its end is the only event.
   */
  @Get()
  async follow(
    @Param() { operationId }: OperationParams,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const gone = whenGone(response);
    const operation = await this.rpc.call(imageOps.operation, dto(ImageOperationRequest, { operationId }));
    const events = operation.state === 'running' ? this.untilEnded(operationId, gone, lastEventId) : ended(operation);
    await sendEvents(response, 'operation', events, gone);
  }

  private async *untilEnded(
    operationId: string,
    signal: AbortSignal,
    lastEventId: string | undefined,
  ): AsyncGenerator<ServerSentEvent> {
    const options = { ids: [operationId], signal, ...resumeAfter(lastEventId) };
    for await (const event of this.events.subscribe(imageEvents.operationChanged, options)) {
      yield event;
      if (event.body.operation.state !== 'running') return;
    }
  }
}

/** Its own events may have expired long ago. */
async function* ended(operation: OperationView): AsyncGenerator<ServerSentEvent> {
  yield await Promise.resolve({
    sequence: null,
    body: dto(ImageOperationChanged, { operation, atMs: operation.endedAtMs ?? Date.now() }),
  });
}
