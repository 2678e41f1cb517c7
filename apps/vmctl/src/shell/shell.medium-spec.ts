import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { WebSocketServer, type WebSocket } from 'ws';
import type { MachineView, TerminalMessage, TerminalView } from '@inquest/contracts-vm';
import { runCommandLine } from '../run-command-line';
import { CapturedOutput } from '../testing/captured-output';
import { sampleMachine, sampleReport } from '../testing/samples';

const { machineId } = sampleMachine();
const TERMINAL: TerminalView = {
  terminalId: 'term-2345678923',
  machineId,
  incarnation: 1,
  command: null,
  state: 'running',
  reason: 'running',
  message: 'its command runs',
  cols: 80,
  rows: 24,
  openedAtMs: 1_700_000_000_000,
  endedAtMs: null,
  exitCode: null,
  signal: null,
  viewers: 0,
  isControlled: false,
  outputBytes: 0,
};
const exited = (exitCode: number | null, more: Partial<TerminalView> = {}): TerminalMessage => ({
  type: 'ended',
  terminal: { ...TERMINAL, state: 'ended', reason: 'exited', exitCode, ...more },
});

/** A person at a terminal. */
class Keyboard extends PassThrough {
  readonly isTTY = true;
  readonly rawModes: boolean[] = [];

  setRawMode(isRaw: boolean): this {
    this.rawModes.push(isRaw);
    return this;
  }
}

class Screen extends CapturedOutput {
  rows = 30;

  constructor() {
    super({ isTTY: true, columns: 100 });
  }
}

describe('vmctl shell', () => {
  let server: Server;
  let sockets: WebSocketServer;
  /** Method, path and body of each request. */
  const requests: { readonly asked: string; readonly body: unknown }[] = [];
  /** What the viewer sent, per connection. */
  let said: string[];
  let machine: MachineView;
  /** What the platform does with a new viewer. */
  let serve: (socket: WebSocket, attempt: number) => void;
  let attempts: number;

  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const asked = `${request.method} ${request.url}`;
        requests.push({ asked, body: body === '' ? null : (JSON.parse(body) as unknown) });
        const answer = answers(asked);
        response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer ?? { code: 'HTTP_ROUTE_UNKNOWN', detail: asked, fault: 'caller' }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket: WebSocket) => {
      said.push('');
      const at = said.length - 1;
      socket.on('message', (data: Buffer) => (said[at] += data.toString('latin1')));
      serve(socket, attempts++);
    });
  });
  afterAll(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  beforeEach(() => {
    requests.length = 0;
    said = [];
    attempts = 0;
    machine = sampleMachine();
  });

  function answers(asked: string): object | null {
    const path = asked.split('?')[0];
    const own = `/v1/machines/${machineId}`;
    switch (path) {
      case 'GET /v1/machines/box':
      case `GET ${own}`:
      case `GET ${own}/wait`:
        return machine;
      case `GET ${own}/verdict`:
        return sampleReport();
      case `GET ${own}/terminals`:
        return { items: [TERMINAL] };
      case `POST ${own}/terminals`:
      case `GET ${own}/terminals/${TERMINAL.terminalId}`:
        return TERMINAL;
      case `DELETE ${own}/terminals/${TERMINAL.terminalId}`:
        return { ...TERMINAL, state: 'ended', reason: 'closed', message: 'it was closed' };
      case `POST ${own}/terminals/${TERMINAL.terminalId}/attach`:
        return { ticket: `ticket-${attempts}`, machineId, expiresAtMs: 1_700_000_000_000 };
      default:
        return null;
    }
  }

  const attach = (socket: WebSocket, replay = '', more: object = {}): void => {
    const message = { type: 'attached', terminal: TERMINAL, isController: true, replayBytes: replay.length, offset: 5 };
    socket.send(JSON.stringify({ ...message, ...more }));
    if (replay !== '') socket.send(Buffer.from(replay));
  };
  const finish = (socket: WebSocket, message: TerminalMessage): void => {
    socket.send(JSON.stringify(message));
    socket.close(1000);
  };
  const whenSaid = (socket: WebSocket, wanted: string, act: () => void): void => {
    const look = (): void => {
      if (!said.at(-1)?.includes(wanted)) return;
      socket.off('message', look);
      act();
    };
    socket.on('message', look);
  };

  const vmctl = async (
    args: readonly string[],
    { stdin = Readable.from([]), stdout = new CapturedOutput(), signal = new AbortController().signal } = {},
  ) => {
    const stderr = new CapturedOutput();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { INQUEST_URL: url, INQUEST_TOKEN: 'the-token', TERM: 'vt220' };
    const status = await runCommandLine(['node', 'vmctl', ...args], { env, stdin, stdout, stderr, signal });
    return { status, stdout: stdout.text, stderr: stderr.text };
  };

  it('opens a login shell as large as the screen, and gives back its exit status and the keyboard', async () => {
    const keyboard = new Keyboard();
    serve = (socket) => {
      attach(socket, '$ ');
      whenSaid(socket, 'ls\r', () => finish(socket, exited(7)));
      keyboard.write('ls\r');
    };
    const answer = await vmctl(['shell', 'box'], { stdin: keyboard, stdout: new Screen() });
    expect(answer).toEqual({ status: 7, stdout: '$ ', stderr: '' });
    expect(requests.find(({ asked }) => asked.startsWith('POST'))?.body).toEqual({
      command: null,
      cwd: null,
      user: null,
      incarnation: 1,
      cols: 100,
      rows: 30,
      term: 'vt220',
    });
    expect(said).toEqual(['{"type":"resize","cols":100,"rows":30}ls\r']);
    expect(keyboard.rawModes).toEqual([true, false]);
  });

  it('tells every new size of the screen', async () => {
    const [keyboard, screen] = [new Keyboard(), new Screen()];
    serve = (socket) => {
      attach(socket);
      whenSaid(socket, '"rows":30', () => {
        screen.rows = 50;
        screen.emit('resize');
      });
      whenSaid(socket, '{"type":"resize","cols":100,"rows":50}', () => finish(socket, exited(0)));
    };
    expect(await vmctl(['shell', 'box'], { stdin: keyboard, stdout: screen })).toMatchObject({ status: 0 });
  });

  it('leaves for ~. with the command still running, and says how to come back', async () => {
    const keyboard = new Keyboard();
    serve = (socket) => {
      attach(socket);
      keyboard.write('\r~.');
    };
    const { status, stderr } = await vmctl(['shell', 'box'], { stdin: keyboard, stdout: new Screen() });
    expect(status).toBe(0);
    expect(stderr).toContain(`vmctl shell --attach ${TERMINAL.terminalId} ${machineId}`);
    expect(requests.some(({ asked }) => asked.startsWith('DELETE'))).toBe(false);
    expect(keyboard.rawModes).toEqual([true, false]);
  });

  it('ends the command for ~k', async () => {
    const keyboard = new Keyboard();
    serve = (socket) => {
      attach(socket);
      keyboard.write('~k');
    };
    expect(await vmctl(['shell', 'box'], { stdin: keyboard, stdout: new Screen() })).toMatchObject({ status: 0 });
    expect(requests.at(-1)?.asked).toMatch(/^DELETE/);
  });

  it('attaches again where it broke off, as often as it breaks', async () => {
    serve = (socket, attempt) => {
      if (attempt === 0) {
        attach(socket, 'old ');
        socket.send(Buffer.from('new '), () => socket.terminate());
        return;
      }
      attach(socket, 'missed', { offset: 15 });
      finish(socket, exited(0));
    };
    const answer = await vmctl(['shell', 'box', 'make'], { stdin: new Keyboard(), stdout: new Screen() });
    expect(answer).toMatchObject({ status: 0, stdout: 'old new missed' });
    expect(requests.filter(({ asked }) => asked.endsWith('/attach')).map(({ body }) => body)).toEqual([
      { mode: 'control', fromOffset: null },
      { mode: 'control', fromOffset: 9 },
    ]);
  });

  it('takes over control of a terminal that is open, and only watches with --view', async () => {
    serve = (socket) => {
      attach(socket, '', { isController: false });
      whenSaid(socket, 'take-control', () => finish(socket, exited(0)));
    };
    await vmctl(['shell', '--attach', TERMINAL.terminalId, 'box'], { stdin: new Keyboard(), stdout: new Screen() });
    expect(said).toEqual(['{"type":"take-control"}']);
    const keyboard = new Keyboard();
    serve = (socket) => {
      attach(socket, '', { isController: false });
      keyboard.write('rm\r');
      setImmediate(() => finish(socket, exited(0)));
    };
    const args = ['shell', '--view', '--attach', TERMINAL.terminalId, 'box'];
    await vmctl(args, { stdin: keyboard, stdout: new Screen() });
    expect(said).toEqual(['{"type":"take-control"}', '']);
  });

  it('types a pipe, and then its end for as long as the command runs', async () => {
    serve = (socket) => {
      attach(socket);
      const twice = '{"type":"end-input"}{"type":"end-input"}';
      whenSaid(socket, `uname\n${twice}`, () => finish(socket, exited(0)));
    };
    const answer = await vmctl(['shell', 'box'], { stdin: Readable.from([Buffer.from('uname\n')]) });
    expect(answer).toMatchObject({ status: 0, stderr: '' });
  });

  it('prints the verdict, and exits with its status, when the machine ended meanwhile', async () => {
    serve = (socket) => {
      attach(socket);
      machine = sampleMachine({ state: 'ended' });
      finish(socket, exited(null, { reason: 'lost', message: 'machine lost' }));
    };
    const answer = await vmctl(['shell', 'box'], { stdin: new Keyboard(), stdout: new Screen() });
    expect(answer).toMatchObject({ status: 0, stderr: expect.stringContaining('verdict: clean_poweroff') });
  });

  it('exits with 128 and the number of the signal that ended the command', async () => {
    serve = (socket) => {
      attach(socket);
      finish(socket, exited(null, { signal: 'SIGTERM' }));
    };
    expect(await vmctl(['shell', 'box', 'sleep 9'], { stdin: new Keyboard(), stdout: new Screen() })).toMatchObject({
      status: 143,
    });
  });

  it.each([
    ['--json, which no terminal can be', ['shell', '--json', 'box']],
    ['--view without a terminal', ['shell', '--view', 'box']],
    ['a command for a terminal that has one', ['shell', '--attach', 'term-1', 'box', 'top']],
    ['an option behind the machine', ['shell', '--list', 'box', '--json']],
  ])('refuses %s, and asks nobody', async (_, args) => {
    expect(await vmctl(args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('CLI_USAGE') });
    expect(requests).toEqual([]);
  });

  it('lists and closes terminals, as JSON too', async () => {
    expect((await vmctl(['shell', '--list', 'box'])).stdout).toMatch(
      /term-2345678923 +running +80x24 +0 .*login shell/,
    );
    expect(JSON.parse((await vmctl(['shell', '--list', '--json', 'box'])).stdout)).toEqual({ items: [TERMINAL] });
    const closed = await vmctl(['shell', '--close', TERMINAL.terminalId, 'box']);
    expect(closed).toEqual({ status: 0, stdout: 'term-2345678923: it was closed\n', stderr: '' });
  });
});
