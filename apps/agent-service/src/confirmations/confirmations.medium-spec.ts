import { agentOps, ListConfirmationsRequest, type ConfirmationView } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { delay } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import { AgentHarness } from '../testing/agent-harness';

const plan = { name: 'plan', arguments: { plan: 'ask first' } };
const ask = (more: object = {}) => ({ name: 'ask', arguments: { question: 'Delete the old data?', ...more } });
const run = (command: string) => ({ name: 'run', arguments: { command } });
const done = { name: 'done', arguments: { summary: 'done' } };
const detached = { isDetached: true };

describe('confirmations', () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await AgentHarness.start();
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);
  beforeEach(() => {
    harness.vm.onExec = () => ({});
  });

  /** What the model was told by its last verb but `done`. */
  const told = (): string => {
    const texts = harness.modelRequests.at(-1)?.messages.flatMap((m) => (m.role === 'tool' ? [m.text] : [])) ?? [];
    return texts.at(-1) ?? '';
  };
  const linesOf = async (sessionId: string): Promise<string[]> =>
    (await harness.entriesOf(sessionId, 'confirmation')).map(({ state, by, reason }) => `${state} ${by} ${reason}`);
  /** A run that waits for a person. */
  const asking = async (call = ask(), more: object = {}): Promise<{ runId: string; shown: ConfirmationView }> => {
    const { sessionId } = await harness.open();
    const { runId } = await harness.run(sessionId, [{ calls: [call] }, { calls: [done] }], { ...detached, ...more });
    return { runId, shown: await harness.openConfirmation(sessionId) };
  };

  it('let a model ask, wait for a person, and go on with the choice and what was said', async () => {
    const { runId, shown } = await asking(ask({ choices: ['all of it', 'only logs'] }));
    expect(shown).toMatchObject({
      runId,
      origin: 'ask',
      verb: 'ask',
      question: 'Delete the old data?',
      choices: ['all of it', 'only logs'],
      state: 'open',
      by: null,
      endedAtMs: null,
    });
    expect(shown.expiresAtMs - shown.askedAtMs).toBe(3_600_000);
    const answered = await harness.answer(shown, { choice: 'only logs', reason: 'the rest is needed' });
    expect(answered).toMatchObject({ state: 'approved', choice: 'only logs', by: 'test' });
    expect(await harness.endOf(runId)).toMatchObject({ state: 'completed' });
    expect(told()).toBe('A person approved. They chose "only logs". They said: the rest is needed');
    expect(await linesOf(shown.sessionId)).toEqual(['asked null ', 'approved test the rest is needed']);
    const events = await harness.confirmationEvents(shown.sessionId, ({ state }) => state !== 'open');
    expect(events).toEqual([shown, answered]);
  });

  it('tell the model of a denial and of its reason', async () => {
    const { runId, shown } = await asking();
    await harness.answer(shown, { decision: 'deny', reason: 'not on a Friday' });
    await harness.endOf(runId);
    expect(told()).toMatch(/^A person denied it\. They said: not on a Friday/);
    expect(await linesOf(shown.sessionId)).toEqual(['asked null ', 'denied test not on a Friday']);
  });

  it('keep a verb that policy marks from being done until a person approved of it', async () => {
    const { sessionId } = await harness.open({ confirm: { verbs: ['git_commit'], commands: ['rm -rf'] } });
    const calls = [plan, run('ls'), run('cd /mnt/project && rm -rf build'), done];
    const { runId } = await harness.run(sessionId, [{ calls }], detached);
    const shown = await harness.openConfirmation(sessionId);
    expect(shown).toMatchObject({ origin: 'policy', verb: 'run' });
    expect(shown.argumentsText).toContain('command: cd /mnt/project && rm -rf build');
    expect(shown.argumentsLength).toBe(shown.argumentsText.length);
    const execs = () => harness.vm.calls.filter((call) => call === 'exec').length;
    const before = execs();
    await harness.answer(shown);
    expect(await harness.endOf(runId)).toMatchObject({ state: 'completed' });
    expect(execs()).toBe(before + 1);
    const verbs = await harness.entriesOf(sessionId, 'verb');
    expect(verbs.map(({ verb, outcome }) => `${verb} ${outcome}`)).toEqual(['plan ok', 'run ok', 'run ok', 'done ok']);
    // The time of the person is not the time of the command.
    expect(verbs[2]?.startedAtMs).toBeGreaterThanOrEqual(shown.askedAtMs);
  });

  it('refuse the verb with what the person said, and nothing is done', async () => {
    const { sessionId } = await harness.open();
    const before = harness.vm.calls.length;
    const policy = { verbs: ['write_file' as const], commands: [] };
    const file = { name: 'write_file', arguments: { path: '/mnt/project/x', content: 'a\nb' } };
    const turns = [{ calls: [plan, file] }, { calls: [done] }];
    const { runId } = await harness.run(sessionId, turns, { ...detached, confirm: policy });
    const shown = await harness.openConfirmation(sessionId);
    expect(shown.argumentsText).toContain('content:\n  a\n  b');
    await harness.answer(shown, { decision: 'deny', reason: 'no new files' });
    expect(await harness.endOf(runId)).toMatchObject({ state: 'completed' });
    const [, refusal] = await harness.entriesOf(sessionId, 'verb');
    expect(refusal).toMatchObject({ verb: 'write_file', outcome: 'refused' });
    expect(refusal?.summary).toMatch(/denied it\. They said: no new files.*It was not done/s);
    expect(harness.vm.calls.slice(before)).toEqual([]);
  });

  it('ask nobody about what a person does by hand, and refuse ask there', async () => {
    const { sessionId } = await harness.open({ mode: 'hand', confirm: { verbs: ['plan'], commands: [] } });
    expect(await harness.verb(sessionId, 'plan', { plan: 'x' })).toMatchObject({ outcome: 'ok' });
    const refusal = await harness.verb(sessionId, 'ask', { question: 'Shall I?' });
    expect(refusal).toMatchObject({ outcome: 'refused', text: expect.stringContaining('by a person') });
    expect(await linesOf(sessionId)).toEqual([]);
  });

  it('take no answer to another run, call or digest, nor a choice that is not on offer, and stay open', async () => {
    const { runId, shown } = await asking(ask({ choices: ['yes'] }));
    const digest = `sha256:${'0'.repeat(64)}`;
    for (const other of [{ runId: 'run-other' }, { callId: 'call-other' }, { argumentsDigest: digest }]) {
      await expect(harness.answer(shown, { ...other, choice: 'yes' })).rejects.toMatchObject({
        code: 'CONFIRMATION_MISMATCH',
        status: 409,
      });
    }
    for (const choice of [null, 'no']) {
      await expect(harness.answer(shown, { choice })).rejects.toMatchObject({ code: 'CONFIRMATION_CHOICE_WRONG' });
    }
    await expect(harness.answer({ ...shown, confirmationId: 'cnf-none' })).rejects.toMatchObject({
      code: 'CONFIRMATION_UNKNOWN',
    });
    expect(await harness.confirmation(shown.confirmationId)).toEqual(shown);
    await harness.answer(shown, { choice: 'yes' });
    await harness.endOf(runId);
  });

  it('take one of many answers at once, and only the same one again', async () => {
    const { runId, shown } = await asking();
    const answers = Array.from({ length: 8 }, (_, index) => ({
      decision: index % 2 === 0 ? ('approve' as const) : ('deny' as const),
      requestId: `req-${index}`,
      reason: `number ${index}`,
    }));
    const outcomes = await Promise.allSettled(answers.map((answer) => harness.answer(shown, answer)));
    const won = outcomes.flatMap((outcome, index) => (outcome.status === 'fulfilled' ? [index] : []));
    expect(won).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'CONFIRMATION_SETTLED' });
    }
    const [winner = 0] = won;
    const settled = await harness.confirmation(shown.confirmationId);
    expect(settled).toMatchObject({ reason: `number ${winner}` });
    expect(await harness.answer(shown, answers[winner])).toEqual(settled);
    const other = { ...answers[winner], reason: 'second thoughts' };
    await expect(harness.answer(shown, other)).rejects.toMatchObject({ code: 'CONFIRMATION_SETTLED' });
    await harness.endOf(runId);
    expect(await linesOf(shown.sessionId)).toHaveLength(2);
    const events = await harness.confirmationEvents(shown.sessionId, ({ state }) => state !== 'open');
    expect(events).toHaveLength(2);
  });

  it('are withdrawn when their run is cancelled, and answered by nobody then', async () => {
    const { runId, shown } = await asking();
    expect(await harness.call(agentOps.cancelRun, { runId })).toMatchObject({ state: 'cancelled' });
    expect(await harness.confirmation(shown.confirmationId)).toMatchObject({ state: 'withdrawn', by: null });
    await expect(harness.answer(shown)).rejects.toMatchObject({ code: 'CONFIRMATION_SETTLED' });
    expect(await linesOf(shown.sessionId)).toEqual([
      'asked null ',
      'withdrawn null the run was stopped before anybody answered',
    ]);
    expect((await harness.transcript(shown.sessionId)).at(-1)).toMatchObject({ type: 'run_ended' });
    expect(await harness.run(shown.sessionId, [{ calls: [done] }])).toMatchObject({ state: 'completed' });
  });

  it('end as the answer or as the cancellation said when both come at once, and the transcript agrees', async () => {
    const { runId, shown } = await asking();
    const [, answer] = await Promise.allSettled([
      harness.call(agentOps.cancelRun, { runId }),
      harness.answer(shown, { reason: 'just in time' }),
    ]);
    const { state } = await harness.confirmation(shown.confirmationId);
    expect(state).toBe(answer.status === 'fulfilled' ? 'approved' : 'withdrawn');
    expect((await linesOf(shown.sessionId)).map((line) => line.split(' ')[0])).toEqual(['asked', state]);
  });

  it('are withdrawn when their session is closed', async () => {
    const { shown } = await asking();
    expect(await harness.close(shown.sessionId)).toMatchObject({ state: 'closed' });
    expect(await harness.confirmation(shown.confirmationId)).toMatchObject({ state: 'withdrawn' });
  });

  it('that an earlier run left open are withdrawn before the next run can be seen', async () => {
    const { runId, shown } = await asking();
    await harness.answer(shown);
    await harness.endOf(runId);
    await harness.database.query(
      `UPDATE "agent"."confirmation" SET "state" = 'open', "ended_at" = NULL, "answered_by" = NULL WHERE "run_id" = $1`,
      [runId],
    );
    const next = await harness.run(shown.sessionId, [{ calls: [done] }], detached);
    // The answer to the submission is the first moment at which anybody knows of the run.
    expect(await harness.confirmation(shown.confirmationId)).toMatchObject({
      state: 'withdrawn',
      reason: 'another run was submitted',
    });
    await harness.endOf(next.runId);
    expect((await linesOf(shown.sessionId)).at(-1)).toBe('withdrawn null another run was submitted');
  });

  it('leave an open one alone when another run is refused because its run is at work', async () => {
    const { runId, shown } = await asking();
    const refusal = harness.call(agentOps.submitRun, {
      sessionId: shown.sessionId,
      requestId: null,
      prompt: 'x',
      closeWhenDone: false,
      confirm: null,
    });
    await expect(refusal).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    expect(await harness.confirmation(shown.confirmationId)).toEqual(shown);
    await harness.answer(shown);
    await harness.endOf(runId);
  });

  it('are one at a time in a run: a second open row is refused by the database', async () => {
    const [one, other] = [await asking(), await asking()];
    const moved = harness.database.query(`UPDATE "agent"."confirmation" SET "run_id" = $1 WHERE "run_id" = $2`, [
      one.runId,
      other.runId,
    ]);
    await expect(moved).rejects.toMatchObject({ driverError: { constraint: 'UQ_confirmation_open' } });
    for (const { runId, shown } of [one, other]) {
      await harness.answer(shown);
      await harness.endOf(runId);
    }
  });

  it('keep secrets out of what is shown and recorded', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    const { runId, shown } = await asking(ask({ question: `May I use ${secret}?`, choices: [`yes, ${secret}`] }));
    expect(JSON.stringify(shown)).not.toContain(secret);
    const answered = await harness.answer(shown, { choice: shown.choices[0] ?? '', reason: `use ${secret}` });
    expect(JSON.stringify(answered)).not.toContain(secret);
    await harness.endOf(runId);
    expect(JSON.stringify(await harness.transcriptFile(shown.sessionId))).not.toContain(secret);
  });

  it('are listed newest first, page by page, of one state or of all, over NATS and REST alike', async () => {
    const first = await asking();
    const second = await asking();
    const page = await harness.call(
      agentOps.listConfirmations,
      dto(ListConfirmationsRequest, { state: 'open', limit: 1 }),
    );
    expect(page.items).toEqual([second.shown]);
    const response = await harness.get(`confirmations?state=open&limit=1&nextToken=${page.nextToken}`);
    expect(await response.json()).toEqual({ items: [first.shown], nextToken: null });
    const one = await harness.get(`confirmations/${first.shown.confirmationId}`);
    expect(await one.json()).toEqual(first.shown);
    for (const { runId, shown } of [first, second]) {
      await harness.answer(shown);
      await harness.endOf(runId);
    }
    const left = await (await harness.get('confirmations?state=open')).json();
    expect(left).toEqual({ items: [], nextToken: null });
    const all = dto(ListConfirmationsRequest, { limit: 2 });
    const { items } = await harness.call(agentOps.listConfirmations, all);
    expect(items.map(({ state }) => state)).toEqual(['approved', 'approved']);
  });

  describe('that expire within a second', () => {
    beforeAll(async () => {
      await harness.stopAgent();
      await harness.startAgent({ INQUEST_CONFIRMATION_TIMEOUT_MS: '1000' });
    }, 60_000);
    afterAll(async () => {
      await harness.stopAgent();
      await harness.startAgent();
    }, 60_000);

    it('are no denial: the model is told that nobody answered', async () => {
      const { runId, shown } = await asking();
      expect(await harness.endOf(runId)).toMatchObject({ state: 'completed' });
      expect(told()).toMatch(/^Nobody answered in time\. That is not a denial/);
      expect(await harness.confirmation(shown.confirmationId)).toMatchObject({ state: 'expired', by: null });
      await expect(harness.answer(shown)).rejects.toMatchObject({ code: 'CONFIRMATION_EXPIRED', status: 410 });
      expect(await linesOf(shown.sessionId)).toEqual(['asked null ', 'expired null nobody answered in time']);
    });

    it('end either as answered or as expired when both come at once, never as both', async () => {
      const { runId, shown } = await asking();
      const answers: Promise<unknown>[] = [];
      await eventually(() => Date.now() >= shown.expiresAtMs - 10, { intervalMs: 1 });
      while (Date.now() <= shown.expiresAtMs + 10) {
        answers.push(harness.answer(shown, { decision: 'deny', reason: `number ${answers.length}` }));
        await delay(2);
      }
      const outcomes = await Promise.allSettled(answers);
      await harness.endOf(runId);
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
      const { state } = await harness.confirmation(shown.confirmationId);
      expect(state).toBe(outcomes.some(({ status }) => status === 'fulfilled') ? 'denied' : 'expired');
      expect((await linesOf(shown.sessionId)).map((line) => line.split(' ')[0])).toEqual(['asked', state]);
      expect(told()).toMatch(state === 'denied' ? /denied/ : /Nobody answered/);
    });
  });

  describe('and a restart of agent-service', () => {
    it('are withdrawn when it stops, and the run is interrupted', async () => {
      const { runId, shown } = await asking();
      await harness.stopAgent();
      await harness.startAgent();
      expect(await harness.call(agentOps.showRun, { runId })).toMatchObject({ error: { code: 'RUN_INTERRUPTED' } });
      expect(await harness.confirmation(shown.confirmationId)).toMatchObject({ state: 'withdrawn' });
      expect(await linesOf(shown.sessionId)).toHaveLength(2);
    });

    it('are withdrawn when it was killed, with the lines that the transcript lacks', async () => {
      const { runId, shown } = await asking();
      await harness.stopAgent();
      await harness.startAgent();
      // As a kill would have left them.
      await harness.database.query(
        `UPDATE "agent"."confirmation" SET "confirmation_id" = 'cnf-killed', "state" = 'open', "reason" = '', "ended_at" = NULL
         WHERE "run_id" = $1`,
        [runId],
      );
      await harness.database.query(`UPDATE "agent"."run" SET "state" = 'running' WHERE "run_id" = $1`, [runId]);
      await harness.stopAgent();
      await harness.startAgent();
      expect(await harness.confirmation('cnf-killed')).toMatchObject({
        state: 'withdrawn',
        reason: 'agent-service was started again, which ended the run',
      });
      const lines = await harness.entriesOf(shown.sessionId, 'confirmation');
      const ofKilled = lines.filter(({ confirmationId }) => confirmationId === 'cnf-killed');
      expect(ofKilled.map(({ state }) => state)).toEqual(['asked', 'withdrawn']);
      expect(await harness.run(shown.sessionId, [{ calls: [done] }])).toMatchObject({ state: 'completed' });
    });
  });
});
