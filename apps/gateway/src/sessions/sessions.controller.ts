import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiProduces } from '@nestjs/swagger';
import { ArrayMaxSize, IsBoolean, IsIn, IsObject } from 'class-validator';
import type { Response } from 'express';
import {
  agentOps,
  CloseSessionRequest,
  ConfirmationPolicy,
  OpenSessionRequest,
  ReadTranscriptRequest,
  RunRequest,
  RunView,
  SESSION_STATES,
  SessionList,
  SessionRequest,
  SessionView,
  SubmitRunRequest,
  TranscriptPage,
  VerbResult,
  WaitRunRequest,
  WaitSessionRequest,
  type SessionState,
} from '@inquest/contracts-agent';
import { dto, IsId, IsNested, IsText, IsWhole, Nullable, PageRequest } from '@inquest/contracts-base';
import { RpcClient } from '@inquest/messaging';
import { passThrough } from '../machines/stream-proxy';

export class WaitSessionQuery {
  @IsIn(SESSION_STATES, { each: true }) @ArrayMaxSize(5) readonly state: SessionState[] = ['ready', 'closed', 'failed'];
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
}

export class WaitRunQuery {
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
}

export class RunBody {
  @Nullable() @IsId() readonly requestId: string | null = null;
  @IsText(64 * 1024, 1) readonly prompt!: string;
  @IsBoolean() readonly closeWhenDone: boolean = false;
  @Nullable() @IsNested(() => ConfirmationPolicy) readonly confirm: ConfirmationPolicy | null = null;
}

export class VerbParams extends SessionRequest {
  @IsText(64, 1) readonly verb!: string;
}

export class VerbBody {
  @IsObject() readonly arguments: Record<string, unknown> = {};
}

export class CloseBody {
  @IsBoolean() readonly publish: boolean = true;
}

export class TranscriptQuery {
  @IsWhole(1, Number.MAX_SAFE_INTEGER) readonly fromSequence: number = 1;
  @IsWhole(1, 1000) readonly limit: number = 200;
}

/** Sessions, their runs and verbs, and what was recorded of them. */
@Controller('v1')
export class SessionsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('sessions')
  list(@Query() page: PageRequest): Promise<SessionList> {
    return this.rpc.call(agentOps.listSessions, page);
  }

  /** Answers with the session in `opening`; wait for `ready` at `/v1/sessions/{id}/wait`. */
  @Post('sessions')
  @HttpCode(202)
  open(@Body() request: OpenSessionRequest): Promise<SessionView> {
    return this.rpc.call(agentOps.openSession, request);
  }

  @Get('sessions/:sessionId')
  show(@Param() request: SessionRequest): Promise<SessionView> {
    return this.rpc.call(agentOps.showSession, request);
  }

  @Get('sessions/:sessionId/wait')
  wait(@Param() { sessionId }: SessionRequest, @Query() { state, waitMs }: WaitSessionQuery): Promise<SessionView> {
    return this.rpc.call(agentOps.waitSession, dto(WaitSessionRequest, { sessionId, states: state, waitMs }));
  }

  @Post('sessions/:sessionId/close')
  @HttpCode(202)
  close(@Param() { sessionId }: SessionRequest, @Body() { publish }: CloseBody): Promise<SessionView> {
    return this.rpc.call(agentOps.closeSession, dto(CloseSessionRequest, { sessionId, publish, by: 'gateway' }));
  }

  /** One run at a time; answers at once with its id. */
  @Post('sessions/:sessionId/runs')
  @HttpCode(202)
  submitRun(@Param() { sessionId }: SessionRequest, @Body() body: RunBody): Promise<RunView> {
    return this.rpc.call(agentOps.submitRun, dto(SubmitRunRequest, { ...body, sessionId }));
  }

  @Post('sessions/:sessionId/verbs/:verb')
  @HttpCode(200)
  async invokeVerb(@Param() { sessionId, verb }: VerbParams, @Body() body: VerbBody): Promise<VerbResult> {
    const result = await this.rpc.call(agentOps.invokeVerb, { sessionId, verb, arguments: body.arguments });
    // Its address is of use inside the platform only.
    return { ...result, picture: null };
  }

  /** The verb `screenshot`, answered with the picture itself; where there is none, with the result as JSON, which says why. */
  @Post('sessions/:sessionId/screenshot')
  @HttpCode(200)
  @ApiProduces('image/png', 'application/json')
  async screenshot(@Param() { sessionId }: SessionRequest, @Res() answer: Response): Promise<void> {
    const result = await this.rpc.call(agentOps.invokeVerb, { sessionId, verb: 'screenshot', arguments: {} });
    if (result.picture === null) answer.json(result);
    else await passThrough(result.picture, null, answer);
  }

  @Get('sessions/:sessionId/transcript')
  transcript(@Param() { sessionId }: SessionRequest, @Query() query: TranscriptQuery): Promise<TranscriptPage> {
    return this.rpc.call(agentOps.readTranscript, dto(ReadTranscriptRequest, { ...query, sessionId }));
  }

  @Get('runs/:runId')
  showRun(@Param() { runId }: RunRequest): Promise<RunView> {
    return this.rpc.call(agentOps.showRun, { runId });
  }

  @Get('runs/:runId/wait')
  waitRun(@Param() { runId }: RunRequest, @Query() { waitMs }: WaitRunQuery): Promise<RunView> {
    return this.rpc.call(agentOps.waitRun, dto(WaitRunRequest, { runId, waitMs }));
  }

  /** Cancels a run; one that has ended stays as it is. */
  @Delete('runs/:runId')
  cancelRun(@Param() { runId }: RunRequest): Promise<RunView> {
    return this.rpc.call(agentOps.cancelRun, { runId });
  }
}
