import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiProduces } from '@nestjs/swagger';
import type { Response } from 'express';
import { CancelOperationRequest, ImageOperationChanged } from '@inquest/contracts-image';
import { dto } from '@inquest/contracts-base';
import { sendEvents, whenGone, type ServerSentEvent } from '@inquest/http';
import { OperationsService } from './operations.service';

/** Short enough to be over before a service that stops must be gone. */
const WAIT_MS = 5_000;

/** The steps of an operation as server-sent events, for those who use image-service without a gateway. */
@Controller('v1/operations/:operationId/events')
export class OperationEventsController {
  constructor(private readonly operations: OperationsService) {}

  /**
   * The operation as it is, then each step, and its end, after which the stream ends. Whoever comes back begins with what is
   * then, so nothing has to be resumed. Throws `OPERATION_UNKNOWN`.
   */
  @Get()
  @ApiProduces('text/event-stream')
  async follow(@Param() { operationId }: CancelOperationRequest, @Res() response: Response): Promise<void> {
    await this.operations.show({ operationId, waitMs: 0, knownStep: null });
    const gone = whenGone(response);
    await sendEvents(response, 'operation', this.steps(operationId, gone), gone);
  }

  private async *steps(operationId: string, gone: AbortSignal): AsyncGenerator<ServerSentEvent> {
    for (let knownStep: string | null = null; !gone.aborted;) {
      const waitMs = knownStep === null ? 0 : WAIT_MS;
      const operation = await this.operations.show({ operationId, waitMs, knownStep });
      const hasEnded = operation.state !== 'running';
      const body = dto(ImageOperationChanged, { operation, atMs: Date.now() });
      if (hasEnded || operation.step !== knownStep) yield { sequence: null, body };
      if (hasEnded) return;
      knownStep = operation.step;
    }
  }
}
