import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import {
  agentEvents,
  agentOps,
  AnswerConfirmationRequest,
  ListConfirmationsRequest,
  OpenSessionRequest,
  ReadTranscriptRequest,
  SubmitRunRequest,
  type ConfirmationView,
  type RunView,
  type SessionState,
  type SessionView,
  type VerbResult,
} from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { CleanupStack, newId, type Operation } from '@inquest/kernel';
import { EventBus, MessagingModule, RpcClient } from '@inquest/messaging';
import { MODEL_CLIENT, type ModelClient, type ModelReply, type ModelRequest } from '@inquest/model-client';
import { FakeModelClient, type FakeTurn } from '@inquest/model-client/testing';
import { startService, type RunningService } from '@inquest/service';
import { eventually, startNats, startPostgres, tempDir } from '@inquest/testing';
import { decodeTranscript, type Entry, type EntryType, type TranscriptEntry } from '@inquest/transcript';
import { FakeVmService, type FakeMachine } from '@inquest/vm-client/testing';
import { agentService } from '../agent-service.definition';
import { AgentServiceModule } from '../agent-service.module';
import { FakePublishService } from './fake-publish-service';

/** A model that a test gives its part before each run. */
class CastModel implements ModelClient {
  readonly name = 'cast';
  cast = new FakeModelClient([]);
  /** Copies: the conversation goes on in the same list. */
  readonly requests: ModelRequest[] = [];

  /** Replies that its length limit cuts from now on. */
  cutReplies = 0;

  async turn(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const reply = await this.cast.turn(request, signal);
    return this.cutReplies-- > 0 ? { ...reply, toolCalls: [], stop: 'length' } : reply;
  }
}

export interface RunOptions extends Partial<SubmitRunRequest> {
  /** Answers as soon as the run was accepted. */
  readonly isDetached?: boolean;
  /** How many of the model's first replies are cut by its length limit. */
  readonly cutReplies?: number;
}

/** Of a long poll in tests. */
const WAIT_MS = 50_000;
const ADMIN_TOKEN = 'admin-token-of-this-test';
/** Of the model endpoint; must be written down nowhere. */
export const MODEL_KEY = 'canary-model-key-0123456789';

/** A real agent-service on a real NATS and Postgres, between a fake vm-service, a fake publish-service and a model. */
export class AgentHarness {
  vm!: FakeVmService;
  publish!: FakePublishService;
  rpc!: RpcClient;
  private readonly model = new CastModel();
  private readonly cleanup = new CleanupStack();
  private client!: INestApplicationContext;
  private home!: string;
  private natsUrl!: string;
  private databaseUrl!: string;
  private running: RunningService | null = null;

  static async start(): Promise<AgentHarness> {
    const harness = new AgentHarness();
    await harness.startAll().catch(async (e: unknown) => {
      await harness.stop();
      throw e;
    });
    return harness;
  }

  stop(): Promise<void> {
    return this.cleanup.run();
  }

  /** What the model was asked since the last part was given, oldest first. */
  get modelRequests(): readonly ModelRequest[] {
    return this.model.requests;
  }

  /** Over the REST API; as the administrator unless another token is given. */
  get(at: string, token = ADMIN_TOKEN): Promise<Response> {
    return fetch(`${this.service.url}/v1/${at}`, { headers: { authorization: `Bearer ${token}` } });
  }

  get database(): DataSource {
    return this.service.app.get(DataSource, { strict: false });
  }

  /** Starts agent-service; `env` on top of what it always gets. `hasRealModel`: its own client, for INQUEST_MODEL_URL. */
  async startAgent(env: Readonly<Record<string, string>> = {}, { hasRealModel = false } = {}): Promise<void> {
    const model: DynamicModule = {
      module: class CastModelModule {},
      providers: [{ provide: MODEL_CLIENT, useValue: this.model }],
      exports: [MODEL_CLIENT],
    };
    const cast = hasRealModel ? [] : ([model] as const);
    this.running = await startService(
      { ...agentService, module: (config) => AgentServiceModule.with(config, ...cast) },
      {
        INQUEST_HOME: this.home,
        INQUEST_NATS_URL: this.natsUrl,
        INQUEST_DATABASE_URL: this.databaseUrl,
        INQUEST_URL_SIGNING_KEY: 'k'.repeat(32),
        INQUEST_TOKEN_SHA256: createHash('sha256').update(ADMIN_TOKEN).digest('hex'),
        INQUEST_MODEL_URL: 'http://127.0.0.1:9/v1',
        INQUEST_MODEL_API_KEY: MODEL_KEY,
        INQUEST_RUN_MAX_TURNS: '6',
        INQUEST_LOG_LEVEL: 'fatal',
        ...env,
      },
    );
  }

  async stopAgent(): Promise<void> {
    const { running } = this;
    this.running = null;
    await running?.stop();
  }

  call<Req extends object, Res extends object>(op: Operation<Req, Res>, request: Req): Promise<Res> {
    return this.rpc.call(op, request);
  }

  /** Asks for a session in a project of its own. */
  request(more: Partial<OpenSessionRequest> = {}): Promise<SessionView> {
    return this.call(agentOps.openSession, dto(OpenSessionRequest, { project: newId<string>('prj'), ...more }));
  }

  /** A session that is ready. */
  async open(more: Partial<OpenSessionRequest> = {}): Promise<SessionView> {
    const { sessionId } = await this.request(more);
    return this.waitFor(sessionId, 'ready', 'failed');
  }

  /** The live machine of a session, as soon as there is one. */
  machineOf(sessionId: string): Promise<FakeMachine> {
    return eventually(() => {
      const machine = this.vm.live.find(({ view }) => view.owner === sessionId);
      if (machine === undefined) throw new Error(`session ${sessionId} has no machine`);
      return machine;
    });
  }

  show(sessionId: string): Promise<SessionView> {
    return this.call(agentOps.showSession, { sessionId });
  }

  waitFor(sessionId: string, ...states: SessionState[]): Promise<SessionView> {
    return this.call(agentOps.waitSession, { sessionId, states, waitMs: WAIT_MS });
  }

  async close(sessionId: string): Promise<SessionView> {
    await this.call(agentOps.closeSession, { sessionId, publish: true, by: 'test' });
    return this.waitFor(sessionId, 'closed', 'failed');
  }

  /** Runs a model's part in a session; the run once it has ended. */
  async run(sessionId: string, turns: readonly FakeTurn[], options: RunOptions = {}): Promise<RunView> {
    const { isDetached = false, cutReplies = 0, ...more } = options;
    this.model.cast = new FakeModelClient(turns);
    this.model.cutReplies = cutReplies;
    this.model.requests.length = 0;
    const request = dto(SubmitRunRequest, { sessionId, prompt: 'do it', ...more });
    const run = await this.call(agentOps.submitRun, request);
    return isDetached ? run : this.endOf(run.runId);
  }

  endOf(runId: string): Promise<RunView> {
    return this.call(agentOps.waitRun, { runId, waitMs: WAIT_MS });
  }

  verb(sessionId: string, verb: string, args: Record<string, unknown> = {}): Promise<VerbResult> {
    return this.call(agentOps.invokeVerb, { sessionId, verb, arguments: args });
  }

  /** The confirmation that is open in a session, as soon as there is one. */
  openConfirmation(sessionId: string): Promise<ConfirmationView> {
    return eventually(async () => {
      const request = dto(ListConfirmationsRequest, { state: 'open', limit: 200 });
      const { items } = await this.call(agentOps.listConfirmations, request);
      const open = items.find((item) => item.sessionId === sessionId);
      if (open === undefined) throw new Error(`session ${sessionId} waits for nobody`);
      return open;
    });
  }

  /** A person's answer to a confirmation as it was shown; approves unless `more` says otherwise. */
  answer(shown: ConfirmationView, more: Partial<AnswerConfirmationRequest> = {}): Promise<ConfirmationView> {
    const { confirmationId, runId, callId, argumentsDigest } = shown;
    const bound = { confirmationId, runId, callId, argumentsDigest, decision: 'approve' as const, by: 'test' };
    return this.call(agentOps.answerConfirmation, dto(AnswerConfirmationRequest, { ...bound, ...more }));
  }

  confirmation(confirmationId: string): Promise<ConfirmationView> {
    return this.call(agentOps.showConfirmation, { confirmationId });
  }

  /** Every change of a session's confirmations as the stream tells it, until one for which `isLast`. */
  async confirmationEvents(
    sessionId: string,
    isLast: (view: ConfirmationView) => boolean,
  ): Promise<ConfirmationView[]> {
    const seen: ConfirmationView[] = [];
    const options = { ids: [sessionId], signal: AbortSignal.timeout(WAIT_MS) };
    for await (const { body } of this.client.get(EventBus).subscribe(agentEvents.confirmationChanged, options)) {
      seen.push(body);
      if (isLast(body)) break;
    }
    return seen;
  }

  /** From now on commands of guests never end by themselves; resolves when the first one has begun. */
  holdCommands(): Promise<void> {
    return new Promise((resolve) => {
      this.vm.onExec = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
  }

  /** The transcript as its readers get it. */
  async transcript(sessionId: string): Promise<TranscriptEntry[]> {
    const page = await this.call(agentOps.readTranscript, dto(ReadTranscriptRequest, { sessionId, limit: 1000 }));
    return page.entries as unknown as TranscriptEntry[];
  }

  async entriesOf<T extends EntryType>(sessionId: string, type: T): Promise<Entry<T>[]> {
    const entries: readonly object[] = (await this.transcript(sessionId)).filter((entry) => entry.type === type);
    return entries as Entry<T>[];
  }

  transcriptPath(sessionId: string): string {
    return path.join(this.home, 'transcripts', `${sessionId}.jsonl`);
  }

  /** The transcript as it is on disk. */
  async transcriptFile(sessionId: string): Promise<TranscriptEntry[]> {
    return [...decodeTranscript(await readFile(this.transcriptPath(sessionId))).entries];
  }

  /** As if a line was being written when the service died. */
  tearTranscript(sessionId: string): Promise<void> {
    return appendFile(this.transcriptPath(sessionId), '{"type":"verb","seque');
  }

  /** Sequence numbers of the session's progress events, in the order of the stream, up to and including `last`. */
  async progress(sessionId: string, last: number): Promise<number[]> {
    const stop = AbortSignal.timeout(WAIT_MS);
    const sequences: number[] = [];
    for await (const { body } of this.client
      .get(EventBus)
      .subscribe(agentEvents.progress, { ids: [sessionId], signal: stop })) {
      sequences.push(body.sequence);
      if (body.sequence === last) break;
    }
    return sequences;
  }

  /** Numbers of the entries that have their row. */
  async rows(sessionId: string): Promise<number[]> {
    const rows = await this.database.query<{ sequence: number }[]>(
      'SELECT "sequence" FROM "agent"."transcript_entry" WHERE "session_id" = $1 ORDER BY "sequence"',
      [sessionId],
    );
    return rows.map(({ sequence }) => sequence);
  }

  private get service(): RunningService {
    if (this.running === null) throw new Error('agent-service does not run');
    return this.running;
  }

  private async startAll(): Promise<void> {
    const directory = await tempDir('agent');
    this.cleanup.defer('the home directory', () => directory.remove());
    this.home = directory.path;
    const nats = await startNats();
    this.cleanup.defer('nats', () => nats.stop());
    this.natsUrl = nats.url;
    const postgres = await startPostgres();
    this.cleanup.defer('postgres', () => postgres.stop());
    this.databaseUrl = await postgres.createDatabase();
    this.vm = await FakeVmService.start({ natsUrl: nats.url });
    this.cleanup.defer('vm-service', () => this.vm.stop());
    this.publish = await FakePublishService.start(nats.url);
    this.cleanup.defer('publish-service', () => this.publish.stop());
    await this.connect(nats.url);
    this.cleanup.defer('agent-service', () => this.stopAgent());
    await this.startAgent();
  }

  private async connect(natsUrl: string): Promise<void> {
    @Module({ imports: [MessagingModule.forRoot({ serviceName: 'test', natsUrl, nodeId: 'test' })] })
    class ClientModule {}
    this.client = await NestFactory.createApplicationContext(ClientModule, { logger: false, abortOnError: false });
    this.cleanup.defer('the client', () => this.client.close());
    this.rpc = this.client.get(RpcClient);
  }
}
