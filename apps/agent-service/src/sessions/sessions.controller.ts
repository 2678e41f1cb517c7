import { pipeline } from 'node:stream/promises';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Response } from 'express';
import {
  agentOps,
  CloseSessionRequest,
  InvokeVerbRequest,
  OpenSessionRequest,
  ReadTranscriptRequest,
  RunRequest,
  RunView,
  SessionList,
  SessionRequest,
  SessionView,
  SubmitRunRequest,
  TranscriptPage,
  VerbResult,
  WaitRunRequest,
  WaitSessionRequest,
} from '@inquest/contracts-agent';
import { PageRequest } from '@inquest/contracts-base';
import { type RunId, type SessionId } from '@inquest/kernel';
import { RpcHandler } from '@inquest/messaging';
import { RunsService } from '../runs/runs.service';
import { TranscriptsService } from '../transcript/transcripts.service';
import { SessionsService } from './sessions.service';

/** Sessions, runs and transcripts over NATS: the contract of agent-service. */
@Controller()
export class SessionsRpcController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly runs: RunsService,
  ) {}

  @RpcHandler(agentOps.openSession)
  open(@Payload() request: OpenSessionRequest): Promise<SessionView> {
    return this.sessions.open(request);
  }

  @RpcHandler(agentOps.showSession)
  show(@Payload() { sessionId }: SessionRequest): Promise<SessionView> {
    return this.sessions.show(sessionId as SessionId);
  }

  @RpcHandler(agentOps.listSessions)
  list(@Payload() { limit, nextToken }: PageRequest): Promise<SessionList> {
    return this.sessions.list(limit, nextToken);
  }

  @RpcHandler(agentOps.waitSession)
  wait(@Payload() request: WaitSessionRequest): Promise<SessionView> {
    return this.sessions.wait(request);
  }

  @RpcHandler(agentOps.closeSession)
  close(@Payload() request: CloseSessionRequest): Promise<SessionView> {
    return this.sessions.close(request);
  }

  @RpcHandler(agentOps.submitRun)
  submitRun(@Payload() request: SubmitRunRequest): Promise<RunView> {
    return this.sessions.submitRun(request);
  }

  @RpcHandler(agentOps.showRun)
  showRun(@Payload() { runId }: RunRequest): Promise<RunView> {
    return this.runs.show(runId as RunId);
  }

  @RpcHandler(agentOps.waitRun)
  waitRun(@Payload() { runId, waitMs }: WaitRunRequest): Promise<RunView> {
    return this.runs.wait(runId as RunId, waitMs);
  }

  @RpcHandler(agentOps.cancelRun)
  cancelRun(@Payload() { runId }: RunRequest): Promise<RunView> {
    return this.runs.cancel(runId as RunId);
  }

  @RpcHandler(agentOps.invokeVerb)
  invokeVerb(@Payload() request: InvokeVerbRequest): Promise<VerbResult> {
    return this.sessions.invokeVerb(request);
  }

  @RpcHandler(agentOps.readTranscript)
  readTranscript(@Payload() request: ReadTranscriptRequest): Promise<TranscriptPage> {
    return this.sessions.readTranscript(request.sessionId as SessionId, request.fromSequence, request.limit);
  }
}

/** The same for an administrator over REST, without NATS or a gateway. */
@Controller('v1/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly transcripts: TranscriptsService,
  ) {}

  @Get()
  list(@Query() { limit, nextToken }: PageRequest): Promise<SessionList> {
    return this.sessions.list(limit, nextToken);
  }

  @Post()
  @HttpCode(202)
  open(@Body() request: OpenSessionRequest): Promise<SessionView> {
    return this.sessions.open(request);
  }

  @Get(':sessionId')
  show(@Param() { sessionId }: SessionRequest): Promise<SessionView> {
    return this.sessions.show(sessionId as SessionId);
  }

  /** The transcript as it is on disk, JSONL, streamed. */
  @Get(':sessionId/transcript')
  async transcript(@Param() { sessionId }: SessionRequest, @Res() response: Response): Promise<void> {
    await this.sessions.show(sessionId as SessionId);
    response.type('application/x-ndjson');
    // A reader that hangs up is no failure of ours.
    await pipeline(await this.transcripts.stream(sessionId as SessionId), response).catch(() => response.destroy());
  }
}
