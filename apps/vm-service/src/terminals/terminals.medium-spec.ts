import { dto } from '@inquest/contracts-base';
import {
  AttachTerminalRequest,
  LocateTerminalRequest,
  OpenTerminalRequest,
  vmOps,
  type TerminalView,
} from '@inquest/contracts-vm';
import type { FakeTerminal } from '@inquest/guest-link/testing';
import { eventually } from '@inquest/testing';
import type { FakeMachine } from '@inquest/vm-driver/testing';
import { TerminalWatcher } from '../testing/terminal-watcher';
import { VmServiceHarness } from '../testing/vm-service-harness';
import { DEFAULT_TERMINAL_LIMITS } from './terminal-limits';

const MIB = 1024 * 1024;
const SHELL = 'exec sh';

describe('a terminal', () => {
  let vm: VmServiceHarness;
  let machineId: string;
  let machine: FakeMachine;

  beforeAll(async () => {
    vm = await VmServiceHarness.start();
  }, 120_000);
  afterAll(() => vm.stop(), 60_000);
  beforeEach(async () => {
    ({ machineId } = await vm.boot());
    machine = vm.driver.machine(machineId);
    machine.guest.agent.execs.script = () => ({ stdout: '$ ' });
  });
  afterEach(() => vm.destroy(machineId));

  const open = (more: Partial<OpenTerminalRequest> = {}): Promise<TerminalView> =>
    vm.call(vmOps.openTerminal, dto(OpenTerminalRequest, { machineId, command: SHELL, ...more }));
  const show = (terminalId: string): Promise<TerminalView> => vm.call(vmOps.showTerminal, { machineId, terminalId });
  const close = (terminalId: string): Promise<TerminalView> => vm.call(vmOps.closeTerminal, { machineId, terminalId });
  const played = (): FakeTerminal => {
    const terminal = machine.guest.agent.execs.terminals.at(-1);
    if (terminal === undefined) throw new Error('no terminal was opened');
    return terminal;
  };
  const address = async (terminalId: string, more: Partial<AttachTerminalRequest> = {}): Promise<string> => {
    const request = dto(AttachTerminalRequest, { machineId, terminalId, ...more });
    const { ticket } = await vm.call(vmOps.attachTerminal, request);
    return (await vm.call(vmOps.locateTerminal, dto(LocateTerminalRequest, { machineId, ticket }))).url;
  };
  const watch = async (terminalId: string, more: Partial<AttachTerminalRequest> = {}): Promise<TerminalWatcher> =>
    TerminalWatcher.connect(await address(terminalId, more));

  it('runs a command with the size and type that are asked for, and a login shell by default', async () => {
    await open({ cols: 132, rows: 43, term: 'vt220', cwd: '/srv', user: 'agent', env: { A: '1' } });
    expect(machine.guest.agent.requests.at(-1)).toEqual({
      op: 'exec',
      shell: SHELL,
      cwd: '/srv',
      user: 'agent',
      env: { A: '1' },
      pty: { cols: 132, rows: 43, term: 'vt220' },
    });
    await expect(open({ command: null })).resolves.toMatchObject({ command: null, state: 'running' });
    expect(machine.guest.agent.requests.at(-1)).toMatchObject({ shell: expect.stringContaining('exec sh -l') });
  });

  it('that cannot be started is an error, and leaves none', async () => {
    machine.guest.agent.execs.script = () => ({ error: 'EXEC_USER_UNKNOWN' });
    await expect(open({ user: 'nobody' })).rejects.toMatchObject({ code: 'EXEC_USER_UNKNOWN' });
    await expect(vm.call(vmOps.listTerminals, { machineId })).resolves.toEqual({ items: [] });
  });

  it('is refused by a guest agent that knows no terminals, and nothing is run', async () => {
    jest
      .spyOn(machine.guest.agent.execs, 'resize')
      .mockImplementation((channel) =>
        channel.sendControl({ type: 'error', code: 'OP_UNKNOWN', message: 'no op "resize"' }),
      );
    await expect(open()).rejects.toMatchObject({ code: 'OP_UNKNOWN' });
    expect(machine.guest.agent.requests.some(({ op }) => op === 'exec')).toBe(false);
  });

  it('shows every viewer the same bytes, and only the one in control types and sets the size', async () => {
    const { terminalId } = await open();
    const first = await watch(terminalId);
    const second = await watch(terminalId);
    expect([first.attached.isController, second.attached.isController]).toEqual([true, false]);
    first.type('ls\r');
    await played().whenTyped('ls\r');
    second.type('rm\r');
    await expect(second.whenTold('refused')).resolves.toMatchObject({ code: 'TERMINAL_CONTROL_MISSING' });
    second.say({ type: 'resize', cols: 10, rows: 10 });
    await second.whenTold('refused', ({ message }) => message.length > 0);
    first.say({ type: 'resize', cols: 100, rows: 30 });
    await second.whenTold('resized', ({ cols, rows }) => cols === 100 && rows === 30);
    const everyByte = Uint8Array.from({ length: 256 }, (_, value) => value);
    await played().show(everyByte);
    await played().show('done');
    await Promise.all([first.whenShown('done'), second.whenShown('done')]);
    expect(first.shown).toEqual(Buffer.concat([Buffer.from('$ '), everyByte, Buffer.from('done')]));
    expect(second.shown).toEqual(first.shown);
    expect(played().typed).toBe('ls\r');
    expect(played().sizes).toEqual([{ cols: 100, rows: 30 }]);
  });

  it('hands control to the viewer that takes it, and never to one that was let in to watch', async () => {
    const { terminalId } = await open();
    const first = await watch(terminalId);
    const second = await watch(terminalId);
    const guest = await watch(terminalId, { mode: 'view' });
    second.say({ type: 'take-control' });
    await first.whenTold(
      'viewers',
      ({ isController, isControlled, count }) => !isController && isControlled && count === 3,
    );
    await second.whenTold('viewers', ({ isController }) => isController);
    second.type('x');
    await played().whenTyped('x');
    guest.say({ type: 'take-control' });
    await expect(guest.whenTold('refused')).resolves.toMatchObject({ code: 'TERMINAL_CONTROL_MISSING' });
    second.say({ type: 'release-control' });
    await guest.whenTold('viewers', ({ isControlled }) => !isControlled);
    first.type('y');
    await expect(first.whenTold('refused')).resolves.toMatchObject({ code: 'TERMINAL_CONTROL_MISSING' });
    expect(played().typed).toBe('x');
  });

  it('outlives its viewers, and shows a late one what it missed', async () => {
    const { terminalId } = await open();
    const first = await watch(terminalId);
    first.cut();
    await eventually(async () => (await show(terminalId)).viewers === 0);
    await played().show('while nobody looked\r\n');
    const late = await watch(terminalId);
    await late.whenShown('while nobody looked');
    expect(late.attached).toMatchObject({ isController: true, replayBytes: 23, offset: 23 });
    expect(late.text).toBe('$ while nobody looked\r\n');
    await played().show('more');
    await late.whenShown('more');
    const again = await watch(terminalId, { fromOffset: 23 });
    await again.whenShown('more');
    expect(again.text).toBe('more');
    expect(played().isHungUp).toBe(false);
  });

  it('keeps a bounded part of an endless output, and replays no questions to the terminal', async () => {
    const { terminalId } = await open();
    const line = `${'x'.repeat(62)}\r\n`;
    await played().show(line.repeat((2 * DEFAULT_TERMINAL_LIMITS.replayBytes) / line.length));
    await played().show('\x1b[6nprompt\x1b[c\x1b]11;?\x07>');
    await eventually(async () => (await show(terminalId)).outputBytes > 2 * DEFAULT_TERMINAL_LIMITS.replayBytes);
    const late = await watch(terminalId);
    await late.whenShown('prompt>');
    expect(late.shown.length).toBe(late.attached.replayBytes);
    expect(late.shown.length).toBeLessThanOrEqual(DEFAULT_TERMINAL_LIMITS.replayBytes);
    expect(late.text.startsWith(line)).toBe(true);
    // Live, they are for the terminal to answer.
    await played().show('\x1b[6nnow');
    await late.whenShown('\x1b[6nnow');
  });

  it('ends with its command: everybody gets the rest of the output, the exit, and the close', async () => {
    const { terminalId } = await open();
    const viewers = [await watch(terminalId), await watch(terminalId)];
    await played().show('bye');
    played().end(3);
    for (const viewer of viewers) {
      await expect(viewer.closed).resolves.toBe(1000);
      expect(viewer.text).toBe('$ bye');
      expect(viewer.messages.at(-1)).toMatchObject({
        type: 'ended',
        terminal: { state: 'ended', reason: 'exited', exitCode: 3, signal: null },
      });
    }
    const late = await watch(terminalId);
    await expect(late.closed).resolves.toBe(1000);
    expect(late.attached.isController).toBe(false);
    expect(late.text).toBe('$ bye');
    await expect(close(terminalId)).resolves.toMatchObject({ reason: 'exited', exitCode: 3 });
  });

  it('ends with its machine, and says how that ended', async () => {
    const { terminalId } = await open();
    const viewer = await watch(terminalId);
    await machine.end('panic');
    await viewer.closed;
    expect(viewer.messages.at(-1)).toMatchObject({
      type: 'ended',
      terminal: { reason: 'lost', exitCode: null, message: expect.stringMatching(/panic/i) },
    });
    await expect(open()).rejects.toMatchObject({ code: 'MACHINE_STATE_WRONG' });
  });

  it('ends when it is closed, and its command with it', async () => {
    const { terminalId } = await open();
    const viewer = await watch(terminalId);
    await expect(close(terminalId)).resolves.toMatchObject({ state: 'ended', reason: 'closed' });
    await expect(viewer.closed).resolves.toBe(1000);
    await eventually(() => played().isHungUp);
    expect(machine.guest.agent.execs.runningCount).toBe(0);
  });

  it('slows its command to the pace of the fastest viewer, and lets slower ones miss output', async () => {
    const { terminalId } = await open();
    const fast = await watch(terminalId);
    const slow = await watch(terminalId);
    slow.socket.pause();
    const total = 32 * MIB;
    for (let shown = 0; shown < total; shown += MIB) await played().show(new Uint8Array(MIB).fill(0x61));
    await played().show('end');
    await fast.whenShown('end');
    expect(fast.shownBytes).toBe(2 + total + 3);
    expect(fast.messages.some(({ type }) => type === 'skipped')).toBe(false);
    slow.socket.resume();
    await slow.whenShown('end');
    const { bytes } = await slow.whenTold('skipped');
    expect(bytes).toBeGreaterThan(0);
    expect(slow.shownBytes).toBeLessThan(total);
  }, 60_000);

  it('goes on without a viewer that takes nothing', async () => {
    const { terminalId } = await open();
    const stalled = await watch(terminalId);
    stalled.socket.pause();
    for (let shown = 0; shown < 16; shown++) await played().show(new Uint8Array(MIB));
    await eventually(async () => (await show(terminalId)).outputBytes >= 16 * MIB);
    stalled.cut();
  }, 60_000);

  it('takes no more terminals on a machine, and no more viewers, than there may be', async () => {
    const { perMachine, viewersPerTerminal } = DEFAULT_TERMINAL_LIMITS;
    const opened = await Promise.all(Array.from({ length: perMachine }, () => open()));
    await expect(open()).rejects.toMatchObject({ code: 'TERMINAL_LIMIT_REACHED', status: 429 });
    expect(machine.guest.agent.execs.terminals).toHaveLength(perMachine);
    const [first] = opened;
    const terminalId = first?.terminalId ?? '';
    await close(opened.at(-1)?.terminalId ?? '');
    await open();
    await Promise.all(Array.from({ length: viewersPerTerminal }, () => watch(terminalId)));
    await expect(watch(terminalId)).rejects.toThrow('429');
  });

  describe('its address', () => {
    it('is good once, and only unchanged', async () => {
      const { terminalId } = await open();
      const url = await address(terminalId);
      const forged = url.replace(/signature=(.)/, (_, first) => `signature=${first === 'a' ? 'b' : 'a'}`);
      await expect(TerminalWatcher.connect(forged)).rejects.toThrow('403');
      await expect(TerminalWatcher.connect(url.split('?')[0] ?? '')).rejects.toThrow('403');
      await TerminalWatcher.connect(url);
      await expect(TerminalWatcher.connect(url)).rejects.toThrow('403');
      await expect(show(terminalId)).resolves.toMatchObject({ viewers: 1 });
    });

    it('is not for pages of other sites', async () => {
      const { terminalId } = await open();
      const url = await address(terminalId);
      const foreign = TerminalWatcher.connect(url, undefined, { origin: 'https://evil.example' });
      await expect(foreign).rejects.toThrow('403');
      await expect(show(terminalId)).resolves.toMatchObject({ viewers: 0 });
    });

    it('is given for terminals of that machine only', async () => {
      const { terminalId } = await open();
      const other = dto(AttachTerminalRequest, { machineId: 'n1-2345678923', terminalId });
      await expect(vm.call(vmOps.attachTerminal, other)).rejects.toMatchObject({ code: 'TERMINAL_UNKNOWN' });
      const unknown = dto(LocateTerminalRequest, { machineId, ticket: 'guessed' });
      await expect(vm.call(vmOps.locateTerminal, unknown)).rejects.toMatchObject({ code: 'STREAM_TICKET_INVALID' });
    });
  });

  it('answers a message that it does not know, and goes on', async () => {
    const { terminalId } = await open();
    const viewer = await watch(terminalId);
    for (const text of ['{', '[]', '{"type":"resize","cols":0,"rows":1}', '{"type":"reboot"}']) {
      const before = viewer.messages.length;
      viewer.socket.send(text);
      await eventually(() => viewer.messages.length > before);
      expect(viewer.messages.at(-1)).toMatchObject({ type: 'refused', code: 'TERMINAL_MESSAGE_INVALID' });
    }
    viewer.type('still here');
    await played().whenTyped('still here');
    expect(played().sizes).toEqual([]);
  });

  it('drops a viewer that sends more at once than a message may have', async () => {
    const { terminalId } = await open();
    const viewer = await watch(terminalId);
    viewer.type(new Uint8Array(65 * 1024));
    await expect(viewer.closed).resolves.toBe(1009);
    expect(played().typed).toBe('');
    await expect(show(terminalId)).resolves.toMatchObject({ state: 'running' });
  });
});
