import { appendFile } from 'node:fs/promises';
import { agentOps } from '@inquest/contracts-agent';
import { eventually } from '@inquest/testing';
import { encodeEntry, type TranscriptEntry } from '@inquest/transcript';
import { AgentHarness } from '../testing/agent-harness';

const plan = { name: 'plan', arguments: { plan: 'go' } };
const sleep = { name: 'run', arguments: { command: 'sleep 600' } };
const done = { name: 'done', arguments: { summary: 'done' } };
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

describe('a restart of agent-service', () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await AgentHarness.start();
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);
  afterEach(() => {
    harness.vm.onExec = () => ({});
    harness.vm.isBootHeld = false;
  });

  /** What a kill -9 leaves: the service is gone, and its rows and files are as `damage` makes them. */
  async function restart(
    damage: (query: (sql: string, ...values: unknown[]) => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    const { database } = harness;
    await damage((sql, ...values) => database.query(sql, values));
    await harness.stopAgent();
    await harness.startAgent();
  }

  async function expectWhole(sessionId: string): Promise<TranscriptEntry[]> {
    const transcript = await harness.transcript(sessionId);
    const sequences = upTo(transcript.length);
    expect(transcript.map(({ sequence }) => sequence)).toEqual(sequences);
    expect(await harness.rows(sessionId)).toEqual(sequences);
    expect(await harness.progress(sessionId, transcript.length)).toEqual(sequences);
    return transcript;
  }

  it('puts the end of the run at work on record before it stops, and frees the session', async () => {
    const { sessionId } = await harness.open();
    const began = harness.holdCommands();
    const { runId } = await harness.run(sessionId, [{ calls: [plan, sleep] }], { isDetached: true });
    await began;
    await harness.stopAgent();
    expect((await harness.transcriptFile(sessionId)).at(-1)).toMatchObject({
      type: 'run_ended',
      runId,
      outcome: 'failed',
    });
    await harness.startAgent();
    expect(await harness.call(agentOps.showRun, { runId })).toMatchObject({
      state: 'failed',
      error: { code: 'RUN_INTERRUPTED', fault: 'infra' },
    });
    harness.vm.onExec = () => ({});
    expect(await harness.run(sessionId, [{ calls: [done] }])).toMatchObject({ state: 'completed' });
    expect(await harness.entriesOf(sessionId, 'run_ended')).toHaveLength(2);
    await expectWhole(sessionId);
  });

  it('closes the session whose interrupted run was to close it', async () => {
    const { sessionId } = await harness.open();
    const began = harness.holdCommands();
    await harness.run(sessionId, [{ calls: [plan, sleep] }], { isDetached: true, closeWhenDone: true });
    await began;
    await harness.stopAgent();
    expect(harness.vm.newest.isLive).toBe(true);
    await harness.startAgent();
    expect(await harness.waitFor(sessionId, 'closed', 'failed')).toMatchObject({
      state: 'closed',
      reason: 'run_failed',
    });
    expect(harness.vm.newest.view).toMatchObject({ state: 'ended', isRemoved: true });
    expect(await harness.entriesOf(sessionId, 'session_closed')).toHaveLength(1);
  });

  it('ends a run that a killed service was working on, in the transcript too', async () => {
    const { sessionId } = await harness.open();
    await restart(async (query) => {
      await query(
        `INSERT INTO "agent"."run" ("run_id", "session_id", "state", "prompt", "summary", "turns", "close_when_done", "started_at")
         VALUES ('run-killed', $1, 'running', 'x', '', 1, false, now())`,
        sessionId,
      );
      await query(`UPDATE "agent"."session" SET "current_run_id" = 'run-killed' WHERE "session_id" = $1`, sessionId);
    });
    expect(await harness.call(agentOps.showRun, { runId: 'run-killed' })).toMatchObject({
      state: 'failed',
      error: { code: 'RUN_INTERRUPTED' },
    });
    expect(await harness.entriesOf(sessionId, 'run_ended')).toMatchObject([{ runId: 'run-killed', outcome: 'failed' }]);
    expect(await harness.show(sessionId)).toMatchObject({
      state: 'ready',
      currentRunId: null,
    });
    await expectWhole(sessionId);
  });

  it('takes the end of a run from the transcript when only the row is missing it', async () => {
    const { sessionId } = await harness.open();
    const { runId } = await harness.run(sessionId, [{ calls: [done] }]);
    await restart((query) =>
      query(
        `UPDATE "agent"."run" SET "state" = 'running', "summary" = '', "ended_at" = NULL WHERE "run_id" = $1`,
        runId,
      ).then(() => undefined),
    );
    expect(await harness.call(agentOps.showRun, { runId })).toMatchObject({ state: 'completed', summary: 'done' });
    expect(await harness.entriesOf(sessionId, 'run_ended')).toHaveLength(1);
  });

  it('gives entries that reached only the file their row and their event once, and cuts off a torn line', async () => {
    const { sessionId } = await harness.open();
    const { length } = await harness.transcript(sessionId);
    await harness.progress(sessionId, length);
    await harness.stopAgent();
    for (const sequence of [length + 1, length + 2]) {
      const entry = {
        type: 'host_event',
        sequence,
        atMs: 1,
        sessionId,
        runId: null,
        event: 'seen',
        detail: `${sequence}`,
      } as const;
      await appendFile(
        harness.transcriptPath(sessionId),
        encodeEntry(entry, (text) => text),
      );
    }
    await harness.tearTranscript(sessionId);
    await harness.startAgent();
    await harness.verb(sessionId, 'check_internet');
    const transcript = await expectWhole(sessionId);
    expect(transcript.slice(-3)).toMatchObject([
      { event: 'seen' },
      { event: 'seen' },
      { type: 'verb', verb: 'check_internet' },
    ]);
    await harness.stopAgent();
    await harness.startAgent();
    expect(await expectWhole(sessionId)).toEqual(transcript);
  });

  it('goes on opening a session with the machine that was started', async () => {
    harness.vm.isBootHeld = true;
    const { sessionId } = await harness.request();
    const machine = await harness.machineOf(sessionId);
    await eventually(async () => (await harness.show(sessionId)).machineId !== null);
    const before = harness.vm.machines.size;
    await restart(() => Promise.resolve());
    harness.vm.becomeReady(machine);
    expect(await harness.waitFor(sessionId, 'ready', 'failed')).toMatchObject({
      state: 'ready',
      machineId: machine.view.machineId,
    });
    expect(harness.vm.machines.size).toBe(before);
    expect(await harness.entriesOf(sessionId, 'session_opened')).toHaveLength(1);
  });

  it('finds the machine that was started before its id was noted', async () => {
    harness.vm.isBootHeld = true;
    const { sessionId } = await harness.request();
    const machine = await harness.machineOf(sessionId);
    const before = harness.vm.machines.size;
    await eventually(async () => (await harness.show(sessionId)).machineId !== null);
    await harness.stopAgent();
    await harness.startAgent();
    await restart((query) =>
      query('UPDATE "agent"."session" SET "machine_id" = NULL WHERE "session_id" = $1', sessionId).then(
        () => undefined,
      ),
    );
    harness.vm.becomeReady(machine);
    expect(await harness.waitFor(sessionId, 'ready', 'failed')).toMatchObject({
      state: 'ready',
      machineId: machine.view.machineId,
    });
    expect(harness.vm.machines.size).toBe(before);
  });

  it('finishes the closing of a session without saying anything twice', async () => {
    const { sessionId } = await harness.open();
    await harness.run(sessionId, [{ calls: [plan, { name: 'git_commit', arguments: { message: 'x' } }, done] }]);
    const closed = await harness.close(sessionId);
    const transcript = await harness.transcript(sessionId);
    await restart((query) =>
      query(
        `UPDATE "agent"."session" SET "state" = 'closing', "closed_at" = NULL WHERE "session_id" = $1`,
        sessionId,
      ).then(() => undefined),
    );
    const again = await harness.waitFor(sessionId, 'closed', 'failed');
    expect({ ...again, closedAtMs: 0 }).toEqual({ ...closed, closedAtMs: 0 });
    expect(await expectWhole(sessionId)).toEqual(transcript);
  });

  it('closes a session whose run ended before its closing could begin', async () => {
    const { sessionId } = await harness.open();
    const { runId } = await harness.run(sessionId, [{ calls: [done] }]);
    await restart((query) =>
      query('UPDATE "agent"."run" SET "close_when_done" = true WHERE "run_id" = $1', runId).then(() => undefined),
    );
    expect(await harness.waitFor(sessionId, 'closed', 'failed')).toMatchObject({
      state: 'closed',
      reason: 'run_completed',
    });
  });
});

describe('while the database refuses what agent-service writes', () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await AgentHarness.start();
    await harness.database.query(
      `CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$ LANGUAGE plpgsql`,
    );
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);

  async function refusing(what: string, work: () => Promise<void>): Promise<void> {
    await harness.database.query(`CREATE TRIGGER refuse BEFORE ${what} FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      await work();
    } finally {
      await harness.database.query(`DROP TRIGGER refuse ON ${what.split(' ON ')[1]}`);
    }
  }

  it('keeps entries in the file, and adds their rows and events in order when it is back', async () => {
    const { sessionId } = await harness.open();
    const { length } = await harness.transcript(sessionId);
    await refusing('INSERT ON "agent"."transcript_entry"', async () => {
      expect(await harness.verb(sessionId, 'plan', { plan: 'x' })).toMatchObject({ outcome: 'ok' });
      expect(await harness.transcript(sessionId)).toHaveLength(length + 2);
      expect(await harness.rows(sessionId)).toEqual(upTo(length));
    });
    await harness.verb(sessionId, 'check_internet');
    expect(await harness.rows(sessionId)).toEqual(upTo(length + 3));
    expect(await harness.progress(sessionId, length + 3)).toEqual(upTo(length + 3));
  });

  it('keeps trying to store the end of a run, which is in the transcript once', async () => {
    const { sessionId } = await harness.open();
    let runId = '';
    await refusing('UPDATE OF "ended_at" ON "agent"."run"', async () => {
      runId = (await harness.run(sessionId, [{ calls: [done] }], { isDetached: true })).runId;
      await eventually(async () => (await harness.entriesOf(sessionId, 'run_ended')).length === 1);
      expect(await harness.call(agentOps.showRun, { runId })).toMatchObject({ state: 'running' });
    });
    expect(await harness.endOf(runId)).toMatchObject({ state: 'completed', summary: 'done' });
    expect(await harness.entriesOf(sessionId, 'run_ended')).toHaveLength(1);
    expect(await harness.show(sessionId)).toMatchObject({ currentRunId: null });
  });
});
