import { Readable } from 'node:stream';
import { encodeControl, encodeData } from '@inquest/frame-protocol';
import { tempDir, type TempDir } from '@inquest/testing';
import { runCommandLine } from './run-command-line';
import { CapturedOutput } from './testing/captured-output';
import { GatewayDouble, sendProblem } from './testing/gateway-double';
import { sampleConfirmation, sampleMachine, sampleReport } from './testing/samples';

const { machineId } = sampleMachine();
const MACHINE = `/v1/machines/${machineId}`;

describe('vmctl', () => {
  let gateway: GatewayDouble;
  let emptyHome: TempDir;

  beforeAll(async () => {
    gateway = await GatewayDouble.start();
    emptyHome = await tempDir('home');
  });
  beforeEach(() => gateway.reset());
  afterAll(async () => {
    await gateway.stop();
    await emptyHome.remove();
  });

  const vmctl = async (
    args: readonly string[],
    { env = gateway.environment, stdin = Readable.from([]), signal = new AbortController().signal }: Partial<Host> = {},
  ) => {
    const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
    const status = await runCommandLine(['node', 'vmctl', ...args], { env, stdin, stdout, stderr, signal });
    return { status, stdout: stdout.text, stderr: stderr.text };
  };
  interface Host {
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: Readable;
    readonly signal: AbortSignal;
  }

  describe('exit statuses', () => {
    it.each([
      ['an unknown command', ['bogus']],
      ['a missing argument', ['new']],
      ['an unknown option', ['ls', '--bogus']],
      ['an option that is no number', ['new', 'tiny', '--memory', 'much']],
      ['a group without a command', ['image']],
      ['a verdict that does not exist', ['run', '--expect', 'peace', 'box', 'true']],
      ['a copy between two paths of this host', ['cp', 'a', 'b']],
      ['arguments of a verb that are no object', ['verb', 'ses-1', 'run', '[]']],
      ['an answer that neither approves nor denies', ['agent', 'answer', 'cnf-1']],
      ['an answer that does both', ['agent', 'answer', 'cnf-1', '--approve', '--deny']],
      ['a denial with a choice', ['agent', 'answer', 'cnf-1', '--deny', '--choice', 'a']],
      ['a verb that nobody can be asked about', ['agent', 'run', '--project', 'p', '--confirm-verb', 'ask', 'x']],
      ['a machine and a bundle at once', ['verdict', 'box', '--bundle', '/x']],
    ])('2 for %s, and asks nobody', async (_, args) => {
      const { status, stdout, stderr } = await vmctl(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/\w/);
      expect(gateway.requests).toEqual([]);
    });

    it('3 when no platform runs', async () => {
      const { status, stderr } = await vmctl(['ls'], { env: { INQUEST_HOME: emptyHome.path } });
      expect(status).toBe(3);
      expect(stderr).toContain('vmctl up');
    });

    it('3 for the status of a platform that does not run, and says how to start it', async () => {
      const answer = await vmctl(['status'], { env: { INQUEST_HOME: emptyHome.path } });
      expect(answer).toEqual({ status: 3, stdout: expect.stringContaining('start it with: vmctl up'), stderr: '' });
    });

    it('1 for what the platform refuses', async () => {
      gateway.on('GET', '/v1/machines/box', (_, response) =>
        sendProblem(response, 404, 'MACHINE_UNKNOWN', 'no machine "box"'),
      );
      expect(await vmctl(['show', 'box'])).toEqual({
        status: 1,
        stdout: '',
        stderr: 'vmctl: no machine "box" [MACHINE_UNKNOWN]\n  Do it otherwise.\n',
      });
    });

    it('0 for help and version, on stdout', async () => {
      expect(await vmctl(['--help'])).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('Machines:'),
        stderr: '',
      });
      expect(await vmctl(['run', '--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining('Examples:') });
      expect(await vmctl(['--version'])).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      });
    });

    it('130 when it is interrupted, without a stack', async () => {
      const interruption = new AbortController();
      gateway.on('GET', '/v1/machines', () => interruption.abort(new Error('interrupted')));
      expect(await vmctl(['ls'], { signal: interruption.signal })).toEqual({
        status: 130,
        stdout: '',
        stderr: 'vmctl: interrupted\n',
      });
    });
  });

  describe('--json', () => {
    it.each([[['ls', '--json']], [['--json', 'ls']]])('is taken at the end and at the start: %p', async (args) => {
      gateway.on('GET', '/v1/machines', { items: [sampleMachine()] });
      const { stdout } = await vmctl(args);
      expect(JSON.parse(stdout)).toMatchObject({ items: [{ machineId }] });
    });

    it('gives errors as JSON on stderr', async () => {
      gateway.on('GET', '/v1/machines/box', (_, response) =>
        sendProblem(response, 404, 'MACHINE_UNKNOWN', 'no machine "box"'),
      );
      const { stdout, stderr } = await vmctl(['show', '--json', 'box']);
      expect(stdout).toBe('');
      expect(JSON.parse(stderr)).toMatchObject({ code: 'MACHINE_UNKNOWN', status: 404 });
    });
  });

  it.each([
    [['ls'], '/v1/machines', 'vmctl new'],
    [['logs'], '/v1/sessions', 'vmctl agent run'],
    [['publish', 'ls'], '/v1/publications', 'a session publishes'],
  ])('%p says how to get something when there is nothing', async (args, path, hint) => {
    gateway.on('GET', path, { items: [], nextToken: null });
    expect(await vmctl(args)).toEqual({ status: 0, stdout: '', stderr: expect.stringContaining(hint) });
  });

  describe('run', () => {
    const exit = (fields: object = {}): Uint8Array =>
      encodeControl({
        type: 'exit',
        code: 0,
        signal: null,
        timedOut: false,
        stdoutBytes: 0,
        stderrBytes: 0,
        durationMs: 1,
        ...fields,
      });
    const machineThatRuns = (...frames: Uint8Array[]): GatewayDouble =>
      gateway
        .on('GET', '/v1/machines/box', sampleMachine())
        .on('POST', `${MACHINE}/exec-stream`, (_, response) => response.end(Buffer.concat(frames)));

    it('gives the status of the command, and asks for no verdict while the machine lives', async () => {
      machineThatRuns(encodeData('stdout', Buffer.from('hi\n')), exit({ code: 7 }));
      expect(await vmctl(['run', 'box', 'echo', 'hi;', 'exit', '7'])).toEqual({
        status: 7,
        stdout: 'hi\n',
        stderr: '',
      });
      expect(gateway.requests.map(({ url }) => url)).toEqual(['/v1/machines/box', `${MACHINE}/exec-stream`]);
      expect(JSON.parse(gateway.requests[1]?.body ?? '')).toMatchObject({ command: 'echo hi; exit 7', incarnation: 1 });
    });

    it('gives 128 and the number of the signal that ended the command', async () => {
      machineThatRuns(exit({ code: null, signal: 'SIGTERM' }));
      expect(await vmctl(['run', 'box', 'true'])).toMatchObject({ status: 143 });
    });

    it('leaves options behind the machine to the command', async () => {
      machineThatRuns(exit());
      await vmctl(['run', '--cwd', '/srv', 'box', 'ls', '--json', '-l']);
      expect(JSON.parse(gateway.requests[1]?.body ?? '')).toMatchObject({ command: 'ls --json -l', cwd: '/srv' });
    });

    it.each([
      ['guest_reset', 84],
      ['panicked', 85],
      ['host_killed', 86],
      ['hung', 87],
      ['suspended', 88],
      ['clean_poweroff', 0],
    ])('gives the status of the verdict %s, %d, when the transport died with the machine', async (verdict, status) => {
      machineThatRuns(encodeData('stdout', Buffer.from('last words')))
        .on('GET', `${MACHINE}/wait`, sampleMachine({ state: 'ended' }))
        .on('GET', `${MACHINE}/verdict`, sampleReport({ class: verdict }));
      expect(await vmctl(['run', 'box', 'true'])).toEqual({
        status,
        stdout: 'last words',
        stderr: expect.stringContaining(`verdict: ${verdict} (certain)`),
      });
      expect(gateway.requests.at(-1)?.url).toBe(`${MACHINE}/verdict?incarnation=1`);
    });

    it('gives the status of a command that did not end its machine after all', async () => {
      machineThatRuns(exit({ code: 1 }))
        .on('GET', `${MACHINE}/wait`, sampleMachine())
        .on('GET', `${MACHINE}/verdict`, sampleReport({ class: 'still_running', ended: false }));
      expect(await vmctl(['run', '--settle', '0', 'box', 'poweroff --help'])).toEqual({
        status: 1,
        stdout: '',
        stderr: '',
      });
    });

    it('gives 87 when an expected ending does not come', async () => {
      machineThatRuns(exit())
        .on('GET', `${MACHINE}/wait`, sampleMachine())
        .on('GET', `${MACHINE}/verdict`, sampleReport({ class: 'still_running', ended: false }));
      expect(await vmctl(['run', '--settle', '0', '--expect', 'guest_reset', 'box', 'true'])).toMatchObject({
        status: 87,
        stderr: expect.stringContaining('still_running'),
      });
    });

    it('waits for a service that is away while the machine ends', async () => {
      machineThatRuns()
        .on('GET', `${MACHINE}/wait`, (_, response) => sendProblem(response, 503, 'NODE_UNAVAILABLE', 'away'))
        .on('GET', `${MACHINE}/wait`, sampleMachine({ state: 'ended' }))
        .on('GET', `${MACHINE}/verdict`, sampleReport());
      expect(await vmctl(['run', 'box', 'poweroff'])).toMatchObject({ status: 0 });
    });

    it('sends its input behind the request when told to', async () => {
      gateway.on('GET', '/v1/machines/box', sampleMachine()).on('POST', `${MACHINE}/exec-pipe`, (request, response) => {
        request.once('end', () => response.end(exit()));
      });
      const stdin = Readable.from(['line 1\n', 'line 2\n'], { objectMode: false });
      expect(await vmctl(['run', '--stdin', 'box', 'cat'], { stdin })).toMatchObject({ status: 0 });
      const [head = '', ...rest] = (gateway.requests.at(-1)?.body ?? '').split('\n');
      expect(JSON.parse(head)).toMatchObject({ command: 'cat', incarnation: 1 });
      expect(rest).toEqual(['line 1', 'line 2', '']);
    });

    it('shows one document with outputs, exit and ending when asked for JSON', async () => {
      machineThatRuns(encodeData('stderr', Buffer.from('bye\n')), exit())
        .on('GET', `${MACHINE}/wait`, sampleMachine({ state: 'ended' }))
        .on('GET', `${MACHINE}/verdict`, sampleReport());
      const { status, stdout, stderr } = await vmctl(['run', '--json', 'box', 'poweroff']);
      expect(JSON.parse(stdout)).toMatchObject({
        machineId,
        exit: { code: 0 },
        stderr: { text: 'bye\n' },
        exitStatus: 0,
        ending: { verdict: { class: 'clean_poweroff' } },
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });
  });

  describe('agent run', () => {
    const session = {
      sessionId: 'ses-1',
      project: 'site',
      chat: null,
      image: 'tiny',
      mode: 'agent',
      machineId,
      currentRunId: null,
    } as const;
    const times = { openedAtMs: 1_700_000_000_000, closedAtMs: null };
    const view = {
      ...session,
      ...times,
      state: 'opening',
      reason: 'opening',
      message: '',
      verdict: null,
      publication: null,
      error: null,
    };

    it('closes its session when it is interrupted', async () => {
      const interruption = new AbortController();
      gateway
        .on('POST', '/v1/sessions', view)
        .on('GET', '/v1/sessions/ses-1/wait', () => interruption.abort(new Error('interrupted')))
        .on('POST', '/v1/sessions/ses-1/close', { ...view, state: 'closing' });
      const answer = await vmctl(['agent', 'run', '--project', 'site', 'Work.'], { signal: interruption.signal });
      expect(answer).toMatchObject({ status: 130, stderr: expect.stringContaining('closing session ses-1') });
      expect(gateway.requests.at(-1)).toMatchObject({ method: 'POST', url: '/v1/sessions/ses-1/close' });
    });

    it('fails with the error of a session that could not be opened', async () => {
      const error = {
        code: 'IMAGE_UNKNOWN',
        fault: 'caller',
        status: 404,
        message: 'no image',
        remediation: 'Build it.',
        details: {},
      };
      gateway
        .on('POST', '/v1/sessions', view)
        .on('GET', '/v1/sessions/ses-1/wait', { ...view, state: 'failed', error });
      expect(await vmctl(['agent', 'run', '--project', 'site', 'Work.'])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('no image [IMAGE_UNKNOWN]\n  Build it.'),
      });
    });
  });

  describe('agent answer', () => {
    const open = sampleConfirmation();
    const PATH = `/v1/confirmations/${open.confirmationId}`;
    const answered = sampleConfirmation({ state: 'denied', by: 'gateway', reason: 'no', endedAtMs: 1_700_000_009_000 });
    const bound = { runId: open.runId, callId: open.callId, argumentsDigest: open.argumentsDigest };
    const list = (...items: readonly object[]) => ({ items, nextToken: null });

    it('names in its answer what it was shown, and says what became of it', async () => {
      gateway.on('GET', PATH, open).on('POST', `${PATH}/answer`, answered);
      const args = ['agent', 'answer', open.confirmationId, '--deny', '--reason', 'no'];
      const { status, stdout } = await vmctl(args);
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('denied by gateway: no') });
      const sent = JSON.parse(gateway.requests.at(-1)?.body ?? '') as object;
      expect(sent).toEqual({ ...bound, decision: 'deny', choice: null, reason: 'no' });
      expect(JSON.parse((await vmctl([...args, '--json'])).stdout)).toEqual(answered);
    });

    it('needs no id while one alone is open', async () => {
      gateway.on('GET', '/v1/confirmations', list(open)).on('POST', `${PATH}/answer`, answered);
      expect(await vmctl(['agent', 'answer', '--deny'])).toMatchObject({ status: 0 });
      expect(gateway.requests[0]?.url).toBe('/v1/confirmations?state=open&limit=2');
    });

    it.each([
      ['none', [], 1, 'CONFIRMATION_UNKNOWN'],
      ['several', [open, open], 2, 'vmctl agent confirmations'],
    ] as const)('answers nothing without an id while %s are open', async (_, items, status, said) => {
      gateway.on('GET', '/v1/confirmations', list(...items));
      const answer = await vmctl(['agent', 'answer', '--approve']);
      expect(answer).toMatchObject({ status, stderr: expect.stringContaining(said) });
      expect(gateway.requests.map(({ method }) => method)).toEqual(['GET']);
    });

    it('is told why it came too late', async () => {
      gateway
        .on('GET', PATH, open)
        .on('POST', `${PATH}/answer`, (_, response) => sendProblem(response, 410, 'CONFIRMATION_EXPIRED', 'too late'));
      expect(await vmctl(['agent', 'answer', open.confirmationId, '--approve'])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('too late [CONFIRMATION_EXPIRED]'),
      });
    });
  });

  describe('agent confirmations', () => {
    it('lists the open ones by what is asked, and with --all those of every state', async () => {
      const asked = sampleConfirmation();
      const called = sampleConfirmation({ origin: 'policy', verb: 'run', argumentsText: 'command: rm -rf \x1b[2Jx' });
      gateway.on('GET', '/v1/confirmations', { items: [asked, called], nextToken: null });
      const { status, stdout } = await vmctl(['agent', 'confirmations']);
      expect(status).toBe(0);
      expect(stdout).toContain(asked.question);
      expect(stdout).toContain('command: rm -rf');
      expect(stdout).not.toContain('\x1b');
      await vmctl(['agent', 'confirmations', '--all', '--limit', '3']);
      expect(gateway.requests.map(({ url }) => url)).toEqual([
        '/v1/confirmations?limit=50&state=open',
        '/v1/confirmations?limit=3',
      ]);
    });
  });

  describe('agent watch', () => {
    const entry = (sequence: number, body: object): string => {
      const place = { sequence, atMs: 1_700_000_000_000, sessionId: 'ses-1', runId: 'run-1' };
      return `data: ${JSON.stringify({ ...place, entry: { ...place, ...body } })}\n\n`;
    };
    const { confirmationId, callId, question } = sampleConfirmation();
    const line = { type: 'confirmation', confirmationId, callId, question, by: null, reason: '' };
    const watching = {
      sessionId: 'ses-1',
      project: 'site',
      chat: null,
      image: 'tiny',
      mode: 'agent',
      state: 'ready',
      reason: 'ready',
      message: '',
      machineId,
      currentRunId: 'run-1',
      openedAtMs: 1,
      closedAtMs: null,
      verdict: null,
      publication: null,
      error: null,
    };

    it.each([[[]], [['--json']]])(
      'says how to answer what a model waits with, on standard error (%j)',
      async (json) => {
        gateway
          .on('GET', '/v1/sessions', { items: [watching], nextToken: null })
          .on('GET', '/v1/sessions/ses-1', watching)
          .on('GET', `/v1/confirmations/${confirmationId}`, sampleConfirmation({ choices: ['a', 'b'] }))
          .on('GET', '/v1/sessions/ses-1/events', (_, response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write(entry(1, { ...line, state: 'asked' }) + entry(2, { ...line, state: 'expired' }));
            response.write(entry(3, { type: 'run_ended', outcome: 'done', summary: 'x' }));
          });
        const { status, stdout, stderr } = await vmctl(['agent', 'watch', 'site', ...json]);
        expect(status).toBe(0);
        expect(stderr.split(`vmctl agent answer ${confirmationId} --approve --choice <one of them>`)).toHaveLength(2);
        expect(stderr).toContain(`vmctl agent answer ${confirmationId} --deny`);
        expect(stderr).toContain('choice: a');
        if (json.length > 0) expect(JSON.parse(stdout)).toMatchObject({ sessionId: 'ses-1' });
        else expect(stdout).toContain('waits for a person');
      },
    );
  });
});
