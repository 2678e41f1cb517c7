import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  agentOps,
  AnswerConfirmationRequest,
  ConfirmationAnswer,
  ConfirmationList,
  ConfirmationRequest,
  ConfirmationView,
  ListConfirmationsRequest,
} from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { RpcClient } from '@inquest/messaging';

/** Questions that only a person may answer. */
@Controller('v1/confirmations')
export class ConfirmationsController {
  constructor(private readonly rpc: RpcClient) {}

  /** Newest first; with `state=open` those that wait for a person. */
  @Get()
  list(@Query() request: ListConfirmationsRequest): Promise<ConfirmationList> {
    return this.rpc.call(agentOps.listConfirmations, request);
  }

  @Get(':confirmationId')
  show(@Param() request: ConfirmationRequest): Promise<ConfirmationView> {
    return this.rpc.call(agentOps.showConfirmation, request);
  }

  /** Approves or denies. The answer names what it was shown: run, call and digest of the arguments. */
  @Post(':confirmationId/answer')
  @HttpCode(200)
  answer(
    @Param() { confirmationId }: ConfirmationRequest,
    @Body() answer: ConfirmationAnswer,
  ): Promise<ConfirmationView> {
    const request = dto(AnswerConfirmationRequest, { ...answer, confirmationId, by: 'gateway' });
    return this.rpc.call(agentOps.answerConfirmation, request);
  }
}
