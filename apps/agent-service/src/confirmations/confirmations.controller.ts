import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  agentOps,
  AnswerConfirmationRequest,
  ConfirmationAnswer,
  ConfirmationList,
  ConfirmationRequest,
  ConfirmationView,
  ListConfirmationsRequest,
} from '@inquest/contracts-agent';
import { RpcHandler } from '@inquest/messaging';
import { ConfirmationsService } from './confirmations.service';

/** Confirmations over NATS. */
@Controller()
export class ConfirmationsRpcController {
  constructor(private readonly confirmations: ConfirmationsService) {}

  @RpcHandler(agentOps.listConfirmations)
  list(@Payload() request: ListConfirmationsRequest): Promise<ConfirmationList> {
    return this.confirmations.list(request);
  }

  @RpcHandler(agentOps.showConfirmation)
  show(@Payload() { confirmationId }: ConfirmationRequest): Promise<ConfirmationView> {
    return this.confirmations.show(confirmationId);
  }

  @RpcHandler(agentOps.answerConfirmation)
  answer(@Payload() request: AnswerConfirmationRequest): Promise<ConfirmationView> {
    return this.confirmations.answer(request);
  }
}

/** The same for an administrator over REST, without NATS or a gateway. */
@Controller('v1/confirmations')
export class ConfirmationsController {
  constructor(private readonly confirmations: ConfirmationsService) {}

  /** Newest first; with `state=open` those that wait for a person. */
  @Get()
  list(@Query() request: ListConfirmationsRequest): Promise<ConfirmationList> {
    return this.confirmations.list(request);
  }

  @Get(':confirmationId')
  show(@Param() { confirmationId }: ConfirmationRequest): Promise<ConfirmationView> {
    return this.confirmations.show(confirmationId);
  }

  /** Approves or denies. The answer names what it was shown: run, call and digest of the arguments. */
  @Post(':confirmationId/answer')
  @HttpCode(200)
  answer(
    @Param() { confirmationId }: ConfirmationRequest,
    @Body() answer: ConfirmationAnswer,
  ): Promise<ConfirmationView> {
    return this.confirmations.answer({ ...answer, confirmationId, by: 'administrator' });
  }
}
