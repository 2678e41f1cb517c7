import { readFile } from 'node:fs/promises';
import { agentOps, OpenSessionRequest, ReadTranscriptRequest, type TranscriptPage } from '@inquest/contracts-agent';
import { dto, PageRequest } from '@inquest/contracts-base';
import { vmError } from '@inquest/contracts-vm';
import { newId } from '@inquest/kernel';
import { AgentHarness } from '../testing/agent-harness';

const plan = { name: 'plan', arguments: { plan: '1. commit' } };
const commit = { name: 'git_commit', arguments: { message: 'work', forceInclude: ['a.log'] } };
const done = { name: 'done', arguments: { summary: 'done' } };

describe('sessions', () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await AgentHarness.start();
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);
  afterEach(() => {
    harness.vm.onExec = () => ({});
    harness.vm.isBootHeld = false;
    harness.publish.stageFailure = null;
  });

  it('opens with its machine ready and the files of its project staged', async () => {
    const opening = await harness.request({ chat: 'chat-1', memoryMib: 300 });
    expect(opening).toMatchObject({ state: 'opening', machineId: null, chat: 'chat-1' });
    const ready = await harness.waitFor(opening.sessionId, 'ready', 'failed');
    const { view } = harness.vm.newest;
    expect(ready).toMatchObject({ state: 'ready', machineId: view.machineId, error: null, verdict: null });
    expect(view).toMatchObject({ owner: opening.sessionId, memoryMib: 300 });
    expect(harness.publish.staged.at(-1)).toEqual({
      project: ready.project,
      sessionId: ready.sessionId,
      machineId: view.machineId,
    });
  });

  it('answers the same request id with the same session, also when both ask at once', async () => {
    const request = dto(OpenSessionRequest, { project: newId<string>('prj'), requestId: newId<string>('req') });
    const before = harness.vm.machines.size;
    const [a, b] = await Promise.all([harness.request(request), harness.request(request)]);
    await harness.waitFor(a.sessionId, 'ready');
    const c = await harness.request(request);
    expect([b.sessionId, c.sessionId]).toEqual([a.sessionId, a.sessionId]);
    expect(harness.vm.machines.size).toBe(before + 1);
  });

  it('closes after a run that asked for it: verdict, publication, census, closed', async () => {
    const { sessionId, project } = await harness.open({ author: { name: 'Ana', email: 'ana@example.org' } });
    const { runId } = await harness.run(sessionId, [{ calls: [plan, commit] }, { calls: [done] }], {
      closeWhenDone: true,
      isDetached: true,
    });
    const closed = await harness.waitFor(sessionId, 'closed', 'failed');
    expect(closed).toMatchObject({
      state: 'closed',
      reason: 'run_completed',
      message: 'the machine ended: clean_poweroff',
      currentRunId: null,
      error: null,
      verdict: { class: 'clean_poweroff', confidence: 'certain' },
      publication: { state: 'published', isVerified: true, project },
    });
    expect(closed.closedAtMs).toBeGreaterThanOrEqual(closed.openedAtMs);
    expect(harness.publish.commits.at(-1)).toMatchObject({
      author: { name: 'Ana' },
      forceInclude: ['a.log'],
      sessionId,
    });
    expect(harness.publish.published.at(-1)).toMatchObject({
      sessionId,
      report: {
        summary: done.arguments.summary,
        census: {
          verbs: expect.arrayContaining([{ verb: 'git_commit', count: 1, refused: 0, failed: 0, errors: 0 }]),
          neverUsed: expect.arrayContaining(['run', 'screenshot']),
        },
        verdict: { class: 'clean_poweroff', confidence: 'certain', account: expect.any(String) },
      },
    });
    const tail = (await harness.transcript(sessionId)).slice(-5);
    expect(tail).toMatchObject([
      { type: 'run_ended', runId, outcome: 'done' },
      { type: 'verdict', class: 'clean_poweroff', deciding: [{ file: 'events.jsonl', quote: 'SHUTDOWN' }] },
      { type: 'publication', pushed: true, detail: `http://forge.invalid/${project}` },
      { type: 'census', modelTurns: 2, neverUsed: expect.arrayContaining(['run', 'screenshot']) },
      { type: 'session_closed', reason: 'run_completed' },
    ]);
    expect(harness.vm.newest.view).toMatchObject({ state: 'ended', isRemoved: true });
  });

  it('closes by hand without a commit, and says that nothing was published and why', async () => {
    const { sessionId } = await harness.open({ mode: 'hand' });
    expect(await harness.verb(sessionId, 'plan', { plan: 'x' })).toMatchObject({ outcome: 'ok' });
    expect(await harness.verb(sessionId, 'run', { command: 'git push' })).toMatchObject({ outcome: 'refused' });
    const closed = await harness.close(sessionId);
    expect(closed).toMatchObject({ state: 'closed', reason: 'closed_by_test', publication: null });
    expect(await harness.entriesOf(sessionId, 'host_event')).toContainEqual(
      expect.objectContaining({ event: 'nothing_published', detail: 'the session made no commit' }),
    );
    expect(await harness.close(sessionId)).toEqual(closed);
    expect(await harness.entriesOf(sessionId, 'session_closed')).toHaveLength(1);
  });

  it('cancels the run that is at work when it is closed', async () => {
    const { sessionId } = await harness.open();
    const began = harness.holdCommands();
    const { runId } = await harness.run(
      sessionId,
      [{ calls: [plan, { name: 'run', arguments: { command: 'sleep 600' } }] }],
      { isDetached: true },
    );
    await began;
    expect(await harness.close(sessionId)).toMatchObject({ state: 'closed', currentRunId: null });
    expect(await harness.call(agentOps.showRun, { runId })).toMatchObject({ state: 'cancelled' });
    expect(harness.vm.live.some(({ view }) => view.owner === sessionId)).toBe(false);
  });

  it('fails with the typed error when the image is unknown, and leaves no machine', async () => {
    const failed = await harness.open({ image: 'nowhere' });
    expect(failed).toMatchObject({
      state: 'failed',
      reason: 'open_failed',
      machineId: null,
      error: { code: 'IMAGE_UNKNOWN', fault: 'caller', status: 404 },
    });
    expect(failed.message).toContain('nowhere');
    expect(await harness.entriesOf(failed.sessionId, 'host_event')).toMatchObject([{ event: 'open_failed' }]);
    expect(await harness.entriesOf(failed.sessionId, 'session_closed')).toHaveLength(1);
    expect(harness.vm.live.some(({ view }) => view.owner === failed.sessionId)).toBe(false);
  });

  it('fails with the typed error when the files cannot be staged, and ends the machine', async () => {
    harness.publish.stageFailure = vmError('MACHINE_LOST', 'the byte stream broke');
    const failed = await harness.open();
    expect(failed).toMatchObject({
      state: 'failed',
      error: { code: 'MACHINE_LOST' },
      verdict: { class: 'clean_poweroff' },
    });
    expect(harness.vm.newest.view).toMatchObject({ owner: failed.sessionId, state: 'ended', isRemoved: true });
  });

  it('fails when the machine ends while it boots', async () => {
    harness.vm.isBootHeld = true;
    const { sessionId } = await harness.request();
    const machine = await harness.machineOf(sessionId);
    harness.vm.end(machine, 'never_booted');
    const failed = await harness.waitFor(sessionId, 'failed', 'ready');
    expect(failed).toMatchObject({
      state: 'failed',
      error: { code: 'MACHINE_BOOT_FAILED' },
      verdict: { class: 'never_booted' },
    });
  });

  it('ends a machine whose start was accepted but not answered', async () => {
    harness.vm.failNext('start', vmError('MACHINE_START_REFUSED', 'the answer was lost'), { isDone: true });
    const failed = await harness.open();
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'MACHINE_START_REFUSED' } });
    const machine = harness.vm.newest.view;
    expect(machine).toMatchObject({ owner: failed.sessionId, state: 'ended', isRemoved: true });
  });

  it('can be closed while it opens, and ends the machine that was booting', async () => {
    harness.vm.isBootHeld = true;
    const { sessionId } = await harness.request();
    const machine = await harness.machineOf(sessionId);
    expect(await harness.close(sessionId)).toMatchObject({ state: 'closed', error: null });
    expect(machine.view).toMatchObject({ state: 'ended', isRemoved: true });
    expect(harness.publish.staged.some((staged) => staged.sessionId === sessionId)).toBe(false);
  });

  it('notes the step that fails on the way out and takes the next one', async () => {
    const { sessionId } = await harness.open();
    harness.vm.failNext('verdict', vmError('MACHINE_UNKNOWN', 'the evidence is gone'));
    expect(await harness.close(sessionId)).toMatchObject({ state: 'closed', verdict: { class: 'clean_poweroff' } });
    expect(await harness.entriesOf(sessionId, 'host_event')).toContainEqual(
      expect.objectContaining({ event: 'verdict_failed', detail: expect.stringContaining('the evidence is gone') }),
    );
    expect(harness.vm.newest.view.isRemoved).toBe(true);
  });

  it('waits for a vm-service that is being restarted, on the way in and on the way out', async () => {
    harness.vm.failNext('start', vmError('NODE_UNAVAILABLE', 'restarting'));
    harness.vm.failNext('wait', vmError('NODE_UNAVAILABLE', 'restarting'));
    const { sessionId, state } = await harness.open();
    expect(state).toBe('ready');
    harness.vm.failNext('shutdown', vmError('NODE_UNAVAILABLE', 'restarting'));
    harness.vm.failNext('destroy', vmError('NODE_UNAVAILABLE', 'restarting'));
    expect(await harness.close(sessionId)).toMatchObject({ state: 'closed', verdict: { class: 'clean_poweroff' } });
    expect(harness.vm.newest.view.isRemoved).toBe(true);
    const events = await harness.entriesOf(sessionId, 'host_event');
    expect(events.map(({ event }) => event)).toEqual(['machine_ready', 'nothing_published']);
  });

  it('lists them newest first, page by page, without a gap or a double', async () => {
    const opened = [];
    for (let i = 0; i < 5; i++) opened.push((await harness.request()).sessionId);
    const listed: string[] = [];
    let nextToken: string | null = null;
    do {
      const page: { items: { sessionId: string }[]; nextToken: string | null } = await harness.call(
        agentOps.listSessions,
        dto(PageRequest, { limit: 2, nextToken }),
      );
      listed.push(...page.items.map(({ sessionId }) => sessionId));
      nextToken = page.nextToken;
    } while (nextToken !== null && listed.length < 100);
    expect(listed.slice(0, 5)).toEqual(opened.reverse());
    expect(new Set(listed).size).toBe(listed.length);
    await expect(harness.call(agentOps.listSessions, dto(PageRequest, { nextToken: 'forged' }))).rejects.toMatchObject({
      code: 'CURSOR_INVALID',
    });
  });

  it('refuses what is no valid request, and makes nothing of it', async () => {
    const before = harness.vm.machines.size;
    for (const bad of [
      { project: '../etc' },
      { image: 'UPPER' },
      { memoryMib: 1 },
      { mode: 'root' as 'hand' },
      { colour: 'red' } as object,
    ]) {
      await expect(harness.request(bad)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    }
    await expect(harness.call(agentOps.showSession, { sessionId: '../../etc/passwd' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    });
    await expect(harness.call(agentOps.showSession, { sessionId: 'ses-none' })).rejects.toMatchObject({
      code: 'SESSION_UNKNOWN',
    });
    await expect(harness.transcript('ses-none')).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
    expect(harness.vm.machines.size).toBe(before);
  });

  it('gives a long transcript page by page, each no larger than a message, without a gap', async () => {
    const { sessionId } = await harness.open({ mode: 'hand' });
    for (let i = 0; i < 120; i++) await harness.verb(sessionId, 'plan', { plan: `${i}${'x'.repeat(16_000)}` });
    const sequences: number[] = [];
    const pages: number[] = [];
    for (let from: number | null = 1; from !== null;) {
      const page: TranscriptPage = await harness.call(
        agentOps.readTranscript,
        dto(ReadTranscriptRequest, { sessionId, fromSequence: from, limit: 1000 }),
      );
      sequences.push(...page.entries.map(({ sequence }) => Number(sequence)));
      pages.push(page.entries.length);
      from = page.nextSequence;
    }
    expect(pages.length).toBeGreaterThan(1);
    expect(sequences).toEqual(Array.from({ length: 2 + 240 }, (_, i) => i + 1));
  });

  it('answers an administrator over REST, the transcript as it is on disk, and nobody without a token', async () => {
    const { sessionId } = await harness.open();
    for (const at of ['sessions', `sessions/${sessionId}`, `sessions/${sessionId}/transcript`]) {
      expect((await harness.get(at, 'wrong')).status).toBe(401);
    }
    expect(await (await harness.get(`sessions/${sessionId}`)).json()).toEqual(await harness.show(sessionId));
    const streamed = await harness.get(`sessions/${sessionId}/transcript`);
    expect(streamed.headers.get('content-type')).toContain('application/x-ndjson');
    expect(await streamed.text()).toBe(await readFile(harness.transcriptPath(sessionId), 'utf8'));
    const unknown = await harness.get('sessions/ses-none/transcript');
    expect({ status: unknown.status, body: await unknown.json() }).toMatchObject({
      status: 404,
      body: { code: 'SESSION_UNKNOWN' },
    });
  });
});
