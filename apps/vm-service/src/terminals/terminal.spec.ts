import { createFakeGuest, type FakeGuest } from '@inquest/guest-link/testing';
import { GuestAgentClient } from '@inquest/guest-link';
import { toDomainError } from '@inquest/kernel';
import { Terminal } from './terminal';
import { DEFAULT_TERMINAL_LIMITS } from './terminal-limits';
import type { ViewerSocket } from './terminal-viewer';

const signal = AbortSignal.timeout(60_000);
const SIZE = { cols: 80, rows: 24 };

/** A socket that keeps what it is sent and takes it only when the test says so. */
class HeldSocket implements ViewerSocket {
  readonly bufferedAmount = 0;
  readonly sent: string[] = [];
  isEnded = false;
  private readonly held: (() => void)[] = [];

  sendBytes(bytes: Uint8Array, taken: () => void): void {
    this.sent.push(`${bytes.length} bytes`);
    this.held.push(taken);
  }

  sendMessage({ type }: { readonly type: string }): void {
    this.sent.push(type);
  }

  end(): void {
    this.isEnded = true;
  }

  drop(reason: string): void {
    throw new Error(reason);
  }

  take(): void {
    for (const taken of this.held.splice(0)) taken();
  }
}

describe('Terminal', () => {
  let guest: FakeGuest;
  let agent: GuestAgentClient;
  const resizes: ((size: unknown) => void)[] = [];

  beforeEach(async () => {
    resizes.length = 0;
    guest = await createFakeGuest();
    guest.agent.execs.script = () => ({});
    agent = new GuestAgentClient(guest.link);
  });
  afterEach(() => guest.link.close());

  const open = async (isSlow = false): Promise<Terminal> => {
    const exec = await agent.exec({ shell: 'sh' }, { signal, pty: SIZE });
    const host = {
      machineId: 'n1-2345678923',
      incarnation: 1,
      resize: async (execId: string, size: typeof SIZE) => {
        if (isSlow) await new Promise((resolve) => resizes.push(resolve));
        await agent.resize({ execId, ...size }, { signal });
      },
      explain: (e: unknown) => Promise.resolve(toDomainError(e)),
    };
    return new Terminal(host, { command: 'sh', ...SIZE }, exec, {
      ...DEFAULT_TERMINAL_LIMITS,
      replayBytes: 512 * 1024,
    });
  };
  const join = (terminal: Terminal, socket: ViewerSocket) =>
    terminal.audience.join(socket, 'control', null, () => terminal.view);

  it('is idle while nobody looks at it and it shows nothing', async () => {
    const terminal = await open();
    const openedAtMs = terminal.view.openedAtMs;
    expect(terminal.idleMs(openedAtMs + 5_000)).toBeGreaterThanOrEqual(4_000);
    const viewer = join(terminal, new HeldSocket());
    expect(terminal.idleMs(openedAtMs + 5_000)).toBe(0);
    terminal.audience.leave(viewer);
    await terminal.close('idle', 'nobody used it');
    expect(terminal.view).toMatchObject({ state: 'ended', reason: 'idle', message: 'nobody used it' });
  });

  it('sets one size at a time, and of those that come meanwhile only the last', async () => {
    const terminal = await open(true);
    const viewer = join(terminal, new HeldSocket());
    for (const cols of [100, 101, 102, 103]) terminal.resize(viewer, { cols, rows: 30 });
    expect(resizes).toHaveLength(1);
    resizes.splice(0)[0]?.(null);
    while (resizes.length === 0) await new Promise(setImmediate);
    resizes.splice(0)[0]?.(null);
    while (terminal.view.cols !== 103) await new Promise(setImmediate);
    const [played] = guest.agent.execs.terminals;
    expect(played?.sizes).toEqual([
      { cols: 100, rows: 30 },
      { cols: 103, rows: 30 },
    ]);
    await terminal.close('closed', 'done');
  });

  it('sends a viewer no more than it takes, and the end after everything else', async () => {
    const terminal = await open();
    const [slow, fast] = [new HeldSocket(), new HeldSocket()];
    join(terminal, slow);
    join(terminal, fast);
    const [played] = guest.agent.execs.terminals;
    await played?.show(new Uint8Array(400 * 1024));
    played?.end(0);
    while (terminal.isRunning) {
      fast.take();
      await new Promise(setImmediate);
    }
    const bytesOf = ({ sent }: HeldSocket): number =>
      sent.reduce((sum, text) => sum + (Number.parseInt(text, 10) || 0), 0);
    expect(bytesOf(slow)).toBe(256 * 1024);
    expect(slow.isEnded).toBe(false);
    while (!slow.isEnded) slow.take();
    expect(bytesOf(slow)).toBe(400 * 1024);
    expect(slow.sent.at(-1)).toBe('ended');
  });
});
