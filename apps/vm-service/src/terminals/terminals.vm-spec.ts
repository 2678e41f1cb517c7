import type { TerminalMessage } from '@inquest/contracts-vm';
import { GuestAgentClient } from '@inquest/guest-link';
import { toDomainError } from '@inquest/kernel';
import { tempDir } from '@inquest/testing';
import { QemuHarness } from '@inquest/vm-driver-qemu/testing';
import { Terminal, type TerminalHost } from './terminal';
import { DEFAULT_TERMINAL_LIMITS } from './terminal-limits';
import type { TerminalViewer, ViewerSocket } from './terminal-viewer';

const LIMIT_MS = 120_000;

/** A viewer without a network. */
class Onlooker implements ViewerSocket {
  readonly bufferedAmount = 0;
  readonly messages: TerminalMessage[] = [];
  viewer!: TerminalViewer;
  private readonly chunks: Buffer[] = [];
  private readonly looks = new Set<() => void>();

  get shown(): string {
    return Buffer.concat(this.chunks).toString('latin1');
  }

  sendBytes(bytes: Uint8Array, taken: () => void): void {
    this.chunks.push(Buffer.from(bytes));
    setImmediate(taken);
    for (const look of [...this.looks]) look();
  }

  sendMessage(message: TerminalMessage): void {
    this.messages.push(message);
  }

  end(): void {
    // There is nothing to close.
  }

  drop(reason: string): void {
    throw new Error(reason);
  }

  whenShown(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = pattern.exec(this.shown);
        if (found === null) return;
        this.looks.delete(look);
        resolve(found);
      };
      this.looks.add(look);
      look();
    });
  }
}

describe('a terminal of a real guest', () => {
  let harness: QemuHarness;
  let agent: GuestAgentClient;
  let terminal: Terminal;
  const options = () => ({ signal: AbortSignal.timeout(LIMIT_MS), deadlineMs: LIMIT_MS });

  beforeAll(async () => {
    harness = await QemuHarness.create(await tempDir('terminals'));
    const machine = await harness.driver.start(harness.makeSpec({}), options().signal);
    agent = new GuestAgentClient(machine.link);
    await agent.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
  }, LIMIT_MS);
  afterAll(() => harness?.dispose(), LIMIT_MS);
  beforeEach(async () => {
    terminal = await open('exec sh -i');
  }, LIMIT_MS);
  afterEach(() => terminal.close('closed', 'the test is over'), LIMIT_MS);

  async function open(shell: string): Promise<Terminal> {
    const size = { cols: 80, rows: 24 };
    const env = { PS1: '> ' };
    const exec = await agent.exec({ shell }, { env, pty: size, signal: options().signal, deadlineMs: LIMIT_MS });
    const host: TerminalHost = {
      machineId: 'local-2345678923',
      incarnation: 1,
      resize: (execId, wanted) => agent.resize({ execId, ...wanted }, options()),
      explain: (e) => Promise.resolve(toDomainError(e)),
    };
    return new Terminal(host, { command: shell, ...size }, exec, DEFAULT_TERMINAL_LIMITS);
  }

  function join(): Onlooker {
    const onlooker = new Onlooker();
    onlooker.viewer = terminal.audience.join(onlooker, 'control', null, () => terminal.view);
    return onlooker;
  }

  /** Types a line, and resolves when what it prints is there: not what was typed, which has a quote in its middle. */
  async function run(onlooker: Onlooker, line: string, end: string): Promise<void> {
    await terminal.type(onlooker.viewer, Buffer.from(`${line}; echo ${end.slice(0, 2)}''${end.slice(2)}\r`));
    await onlooker.whenShown(new RegExp(`\n${end}\r\n`));
  }

  it(
    'is interactive: it echoes, tells its size and every new one, and the interrupt key interrupts',
    async () => {
      const person = join();
      await run(person, 'test -t 0 && stty size', 'first');
      expect(person.shown).toMatch(/\n24 80\r\n/);
      terminal.resize(person.viewer, { cols: 132, rows: 43 });
      await terminal.type(person.viewer, Buffer.from('until stty size | grep "43 132"; do sleep 0.1; done\r'));
      await person.whenShown(/\n43 132\r\n/);
      // Said by the command itself: until it is in the foreground, the key is the shell's.
      await terminal.type(person.viewer, Buffer.from(`sh -c "echo go''ing; exec sleep 600"\r`));
      await person.whenShown(/\ngoing\r\n/);
      await terminal.type(person.viewer, Buffer.from([0x03]));
      await run(person, 'echo "status $?"', 'after');
      expect(person.shown).toMatch(/\nstatus 130\r\n/);
    },
    LIMIT_MS,
  );

  it(
    'shows two viewers the same bytes, goes on without them, and replays to a late one what it missed',
    async () => {
      const [first, second] = [join(), join()];
      await run(first, 'echo one', 'seen');
      await second.whenShown(/\nseen\r\n/);
      expect(second.shown).toBe(first.shown);
      await terminal.type(first.viewer, Buffer.from("sleep 1; echo while''away\r"));
      terminal.audience.leave(first.viewer);
      terminal.audience.leave(second.viewer);
      const late = join();
      await late.whenShown(/\nwhileaway\r\n/);
      expect(late.shown).toContain('one');
      await run(late, 'true', 'still');
      expect(terminal.isRunning).toBe(true);
    },
    LIMIT_MS,
  );

  it(
    'ends with its shell, whose background jobs do not outlive it',
    async () => {
      const person = join();
      await terminal.type(person.viewer, Buffer.from("nohup sleep 600 >/dev/null 2>&1 & echo pid=''$!.\r"));
      const [, pid] = await person.whenShown(/\npid=(\d+)\.\r\n/);
      await terminal.type(person.viewer, Buffer.from('exit 7\r'));
      await terminal.whenEnded;
      expect(terminal.view).toMatchObject({ state: 'ended', reason: 'exited', exitCode: 7 });
      expect(person.messages.at(-1)).toMatchObject({ type: 'ended', terminal: { exitCode: 7 } });
      const bounds = { headBytes: 64, tailBytes: 64 };
      const { code } = await agent.execBounded({ argv: ['kill', '-0', pid ?? ''] }, { ...options(), bounds });
      expect(code).not.toBe(0);
    },
    LIMIT_MS,
  );
});
