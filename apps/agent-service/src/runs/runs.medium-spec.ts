import { agentOps, VERB_NAMES } from '@inquest/contracts-agent';
import { AgentHarness } from '../testing/agent-harness';
import { MODEL_PICTURE_MAX_BYTES } from './show-picture';

const plan = { name: 'plan', arguments: { plan: 'look\nwrite' } };
const run = (command: string, more: object = {}) => ({ name: 'run', arguments: { command, ...more } });
const done = { name: 'done', arguments: { summary: 'made hello.txt and read it back' } };

describe('runs', () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await AgentHarness.start();
  }, 120_000);
  afterAll(() => harness.stop(), 60_000);
  beforeEach(() => {
    harness.vm.onExec = () => ({});
  });

  it('goes from the plan to done, and every step of it is in the transcript', async () => {
    const { sessionId } = await harness.open();
    harness.vm.onExec = ({ command, cwd, timeoutMs }) => ({ stdout: `${command} in ${cwd} within ${timeoutMs}\n` });
    const ended = await harness.run(
      sessionId,
      [
        { say: 'I plan first.', calls: [plan] },
        {
          calls: [
            { name: 'write_file', arguments: { path: '/mnt/project/hello.txt', content: 'hello\n', mode: '755' } },
            run('./test'),
          ],
        },
        {
          calls: [
            { name: 'read_file', arguments: { path: '/mnt/project/hello.txt' } },
            { name: 'list_files', arguments: {} },
          ],
        },
        { calls: [{ name: 'git_commit', arguments: { message: 'hello' } }] },
        { say: 'All good.', calls: [done] },
      ],
      { prompt: 'make hello' },
    );
    expect(ended).toMatchObject({
      state: 'completed',
      summary: 'made hello.txt and read it back',
      turns: 5,
      error: null,
      prompt: 'make hello',
    });
    expect(harness.vm.newest.files.read('/mnt/project/hello.txt')?.toString()).toBe('hello\n');
    const transcript = await harness.transcript(sessionId);
    expect(transcript.map((entry) => ('verb' in entry ? `verb ${entry.verb} ${entry.outcome}` : entry.type))).toEqual([
      'session_opened',
      'host_event',
      'run_started',
      'model_turn',
      'plan_recorded',
      'verb plan ok',
      'model_turn',
      'verb write_file ok',
      'verb run ok',
      'model_turn',
      'verb read_file ok',
      'verb list_files ok',
      'model_turn',
      'publication',
      'verb git_commit ok',
      'model_turn',
      'verb done ok',
      'run_ended',
    ]);
    const summaries = (await harness.entriesOf(sessionId, 'verb')).map(({ summary }) => summary);
    expect(summaries).toContain('exit code 0\nstdout:\n./test in /mnt/project within 120000\n');
    expect(summaries).toContainEqual(expect.stringMatching(/ 6 hello\.txt$/));
  });

  it('tells every event of a run in order and without a gap', async () => {
    const { sessionId } = await harness.open();
    await harness.run(sessionId, [{ calls: [plan, run('true'), run('false'), done] }]);
    const transcript = await harness.transcript(sessionId);
    const last = transcript.length;
    expect(transcript.map(({ sequence }) => sequence)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
    expect(await harness.progress(sessionId, last)).toEqual(transcript.map(({ sequence }) => sequence));
    expect(await harness.rows(sessionId)).toEqual(transcript.map(({ sequence }) => sequence));
  });

  it('refuses verbs that change the machine before a plan, and lets the others through', async () => {
    const { sessionId } = await harness.open();
    harness.vm.newest.files.write('/etc/hostname', 'tiny\n');
    const before = harness.vm.calls.length;
    await harness.run(sessionId, [
      {
        calls: [
          run('touch /x'),
          { name: 'write_file', arguments: { path: '/x', content: '' } },
          { name: 'git_commit', arguments: { message: 'x' } },
        ],
      },
      { calls: [{ name: 'read_file', arguments: { path: '/etc/hostname' } }, done] },
    ]);
    const verbs = await harness.entriesOf(sessionId, 'verb');
    expect(verbs.map(({ verb, outcome }) => `${verb} ${outcome}`)).toEqual([
      'run refused',
      'write_file refused',
      'git_commit refused',
      'read_file ok',
      'done ok',
    ]);
    expect(verbs[0]?.summary).toContain('Call plan');
    expect(harness.vm.calls.slice(before)).toEqual(['readFile']);
    expect(harness.publish.commits.some((commit) => commit.sessionId === sessionId)).toBe(false);
  });

  it('refuses git commands that write, says why and what to do, and runs nothing', async () => {
    const { sessionId } = await harness.open();
    const before = harness.vm.calls.length;
    await harness.run(sessionId, [
      { calls: [plan, run('cd /mnt/project && git add -A && git commit -m x')] },
      { calls: [done] },
    ]);
    const [refusal] = (await harness.entriesOf(sessionId, 'verb')).filter(({ verb }) => verb === 'run');
    expect(refusal).toMatchObject({ outcome: 'refused' });
    expect(refusal?.summary).toMatch(/git_commit/);
    expect(harness.vm.calls.slice(before)).not.toContain('exec');
    expect(harness.modelRequests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', text: refusal?.summary });
  });

  it('tells the model what is wrong with its arguments, which verbs there are, and goes on', async () => {
    const { sessionId } = await harness.open();
    const ended = await harness.run(sessionId, [
      {
        calls: [
          plan,
          run('x', { timeoutMs: 5, colour: 'red' }),
          { name: 'read_file', arguments: { path: 'relative' } },
          { name: 'reboot_world', arguments: {} },
        ],
      },
      { calls: [done] },
    ]);
    expect(ended.state).toBe('completed');
    const texts =
      harness.modelRequests[1]?.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : [])) ?? [];
    expect(texts[1]).toMatch(/run: .*timeoutMs.*colour|run: .*colour.*timeoutMs/s);
    expect(texts[2]).toMatch(/read_file: .*path/);
    expect(texts[3]).toMatch(/no verb "reboot_world"; there are: plan, run, /);
    const outcomes = (await harness.entriesOf(sessionId, 'verb')).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['ok', 'error', 'error', 'error', 'ok']);
  });

  it('has a handler for every verb of the table', async () => {
    const { sessionId } = await harness.open({ mode: 'hand' });
    for (const verb of VERB_NAMES) {
      const { outcome, text } = await harness.verb(sessionId, verb, { surprise: 1 });
      expect({ verb, outcome }).toEqual({ verb, outcome: 'error' });
      expect(text).toMatch(new RegExp(`^${verb}: .*surprise`));
    }
    const verbs = await harness.entriesOf(sessionId, 'verb');
    expect(verbs.map(({ verb, runId }) => ({ verb, runId }))).toEqual(
      VERB_NAMES.map((verb) => ({ verb, runId: null })),
    );
  });

  it('gives a command that fails as a result, and a verb that cannot be done as a text', async () => {
    const { sessionId } = await harness.open();
    harness.vm.onExec = () => ({ exitCode: 3, stderr: 'no such thing\n' });
    await harness.run(sessionId, [
      { calls: [plan, run('false'), { name: 'screenshot', arguments: {} }, { name: 'check_internet', arguments: {} }] },
      { calls: [done] },
    ]);
    const verbs = await harness.entriesOf(sessionId, 'verb');
    expect(verbs.map(({ verb, outcome }) => `${verb} ${outcome}`)).toEqual([
      'plan ok',
      'run failed',
      'screenshot error',
      'check_internet ok',
      'done ok',
    ]);
    expect(verbs[1]?.summary).toBe('exit code 3\nstderr:\nno such thing\n');
    expect(verbs[2]?.summary).toMatch(/has no screen\n.*vmctl image ls/);
    expect(verbs[3]?.summary).toMatch(/no network card.*ping/s);
  });

  it('shows the model the newest picture behind the results of the turn, and tells the transcript its size', async () => {
    const { sessionId } = await harness.open();
    const shot = { name: 'screenshot', arguments: {} };
    const picture = Buffer.alloc(2 * 1024 * 1024, 9);
    harness.vm.picture = picture;
    await harness.run(sessionId, [{ calls: [plan, shot, run('true')] }, { calls: [shot] }, { calls: [done] }]);
    harness.vm.picture = null;
    const [, second, third] = harness.modelRequests.map(({ messages }) => messages);
    expect(second?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool', 'user']);
    expect(second?.at(-1)).toEqual({ role: 'user', text: 'The picture.', picture });
    expect(third?.filter((message) => message.role === 'user').slice(1)).toEqual([
      { role: 'user', text: 'An older picture.' },
      { role: 'user', text: 'The picture.', picture },
    ]);
    const [entry] = (await harness.entriesOf(sessionId, 'verb')).filter(({ verb }) => verb === 'screenshot');
    expect(entry).toMatchObject({
      bytes: picture.length,
      summary: 'a picture of 640 x 400 pixels (PNG, 2097152 bytes)',
    });
  });

  it('is told why there is no picture for a model', async () => {
    const { sessionId } = await harness.open();
    harness.vm.picture = Buffer.alloc(MODEL_PICTURE_MAX_BYTES + 1);
    await harness.run(sessionId, [{ calls: [{ name: 'screenshot', arguments: {} }] }, { calls: [done] }]);
    harness.vm.picture = null;
    expect(harness.modelRequests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      text: expect.stringContaining('too large'),
    });
  });

  it('ends with what the model said when it calls no verb', async () => {
    const { sessionId } = await harness.open();
    expect(await harness.run(sessionId, [{ say: 'Nothing to do.' }])).toMatchObject({
      state: 'completed',
      summary: 'Nothing to do.',
      turns: 1,
    });
  });

  it('goes on after a reply that its length limit cut, and does not take it for the end', async () => {
    const { sessionId } = await harness.open();
    const ended = await harness.run(sessionId, [{ say: 'I was about to', calls: [plan] }, { calls: [done] }], {
      cutReplies: 1,
    });
    expect(ended).toMatchObject({ state: 'completed', summary: done.arguments.summary, turns: 2 });
    expect(harness.modelRequests[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', text: 'I was about to', toolCalls: [] },
      { role: 'user', text: expect.stringContaining('cut') },
    ]);
    expect(await harness.entriesOf(sessionId, 'plan_recorded')).toEqual([]);
  });

  it('keeps a summary within what its view takes', async () => {
    const { sessionId } = await harness.open();
    const ended = await harness.run(sessionId, [{ say: 'x'.repeat(20_000) }]);
    expect(ended.state).toBe('completed');
    expect(ended.summary).toHaveLength(16 * 1024);
  });

  it.each(['MODEL_AUTH_FAILED', 'MODEL_UNREACHABLE', 'MODEL_REPLY_INVALID'] as const)(
    'fails with RUN_MODEL_FAILED after %s',
    async (fail) => {
      const { sessionId } = await harness.open();
      const ended = await harness.run(sessionId, [{ calls: [plan] }, { fail }]);
      expect(ended).toMatchObject({
        state: 'failed',
        turns: 1,
        error: { code: 'RUN_MODEL_FAILED', fault: 'infra', details: { code: fail } },
      });
      expect(await harness.entriesOf(sessionId, 'run_ended')).toMatchObject([
        { outcome: 'failed', summary: expect.stringContaining('the model could not answer') },
      ]);
      expect(await harness.show(sessionId)).toMatchObject({
        state: 'ready',
        currentRunId: null,
      });
    },
  );

  it('fails when its turns are used up', async () => {
    const { sessionId } = await harness.open();
    const turns = Array.from({ length: 20 }, () => ({ calls: [{ name: 'check_internet', arguments: {} }] }));
    const ended = await harness.run(sessionId, turns);
    expect(ended).toMatchObject({ state: 'failed', turns: 6, error: { code: 'RUN_TURNS_EXHAUSTED' } });
    expect(await harness.entriesOf(sessionId, 'model_turn')).toHaveLength(6);
  });

  it('fails when the machine is lost during a verb, and when it was lost before', async () => {
    const { sessionId } = await harness.open();
    const machine = harness.vm.newest;
    harness.vm.onExec = (_request, lost) => {
      harness.vm.end(lost, 'panicked');
      return new Promise(() => undefined);
    };
    const turns = [{ calls: [plan, run('echo c > /proc/sysrq-trigger'), run('uname')] }];
    const during = await harness.run(sessionId, turns);
    expect(during).toMatchObject({ state: 'failed', error: { code: 'RUN_MACHINE_LOST', fault: 'guest' } });
    expect(during.error?.message).toContain('panicked');
    expect(machine.isLive).toBe(false);
    const before = await harness.run(sessionId, turns);
    expect(before).toMatchObject({ state: 'failed', error: { code: 'RUN_MACHINE_LOST' } });
    const ends = await harness.entriesOf(sessionId, 'run_ended');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['machine_lost', 'machine_lost']);
    const commands = (await harness.entriesOf(sessionId, 'verb')).filter(({ verb }) => verb === 'run');
    expect(commands).toHaveLength(2);
  });

  it('stops when it is cancelled in the middle of a verb, and says so once', async () => {
    const { sessionId } = await harness.open();
    const began = harness.holdCommands();
    const { runId } = await harness.run(sessionId, [{ calls: [plan, run('sleep 600'), run('after')] }], {
      isDetached: true,
    });
    await began;
    expect(await harness.call(agentOps.cancelRun, { runId })).toMatchObject({ state: 'cancelled', error: null });
    expect(await harness.call(agentOps.cancelRun, { runId })).toMatchObject({ state: 'cancelled' });
    expect(await harness.entriesOf(sessionId, 'run_ended')).toMatchObject([{ runId, outcome: 'cancelled' }]);
    const commands = (await harness.entriesOf(sessionId, 'verb')).filter(({ verb }) => verb === 'run');
    expect(commands).toMatchObject([{ arguments: { command: 'sleep 600' }, outcome: 'error' }]);
    harness.vm.onExec = () => ({});
    expect((await harness.run(sessionId, [{ calls: [run('true'), done] }])).state).toBe('completed');
  });

  it('keeps the plan for a second run in the same session, which is told of the first', async () => {
    const { sessionId } = await harness.open();
    await harness.run(sessionId, [{ calls: [plan, done] }], { prompt: 'first request' });
    const second = await harness.run(sessionId, [{ calls: [run('true'), done] }], { prompt: 'second request' });
    expect(second.state).toBe('completed');
    expect(harness.modelRequests[0]?.system).toContain(
      'Earlier request in this session: first request\nIts outcome (completed): made hello.txt',
    );
    expect(harness.modelRequests[0]?.messages).toEqual([{ role: 'user', text: 'second request' }]);
    expect((await harness.entriesOf(sessionId, 'run_started')).map(({ prompt }) => prompt)).toEqual([
      'first request',
      'second request',
    ]);
  });

  it('lets one run at a time into a session, and leaves nothing of the refused one', async () => {
    const { sessionId } = await harness.open();
    const began = harness.holdCommands();
    const first = await harness.run(sessionId, [{ calls: [plan, run('sleep 600')] }], { isDetached: true });
    await began;
    await expect(harness.run(sessionId, [], { requestId: 'req-refused', isDetached: true })).rejects.toMatchObject({
      code: 'RUN_ACTIVE',
    });
    await expect(harness.verb(sessionId, 'check_internet')).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    const rows = await harness.database.query<unknown[]>('SELECT 1 FROM "agent"."run" WHERE "request_id" = $1', [
      'req-refused',
    ]);
    expect(rows).toEqual([]);
    expect(await harness.call(agentOps.cancelRun, { runId: first.runId })).toMatchObject({ state: 'cancelled' });
  });

  it('answers the same request id with the same run, also when it has ended and its session is closed', async () => {
    const { sessionId } = await harness.open();
    const options = { requestId: `req-${sessionId}`, isDetached: true };
    const [a, b] = await Promise.all([
      harness.run(sessionId, [{ calls: [done] }], options),
      harness.run(sessionId, [{ calls: [done] }], options),
    ]);
    expect(a.runId).toBe(b.runId);
    await harness.endOf(a.runId);
    await harness.close(sessionId);
    expect(await harness.run(sessionId, [], options)).toMatchObject({ runId: a.runId, state: 'completed' });
    expect(await harness.entriesOf(sessionId, 'run_started')).toHaveLength(1);
  });

  it('knows no run that was never submitted, and none in a session that is closed or unknown', async () => {
    const { sessionId } = await harness.open();
    await harness.close(sessionId);
    await expect(harness.run(sessionId, [])).rejects.toMatchObject({ code: 'SESSION_STATE_WRONG' });
    await expect(harness.run('ses-none', [])).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
    for (const op of [agentOps.showRun, agentOps.cancelRun]) {
      await expect(harness.call(op, { runId: 'run-none' })).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
    }
    await expect(harness.verb(sessionId, 'check_internet')).rejects.toMatchObject({ code: 'SESSION_STATE_WRONG' });
  });
});
