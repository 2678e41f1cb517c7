import { Logger } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import { OpenTerminalRequest } from '@inquest/contracts-vm';
import { GuestAgentClient } from '@inquest/guest-link';
import { createFakeGuest, type FakeGuest } from '@inquest/guest-link/testing';
import { toDomainError } from '@inquest/kernel';
import { eventually } from '@inquest/testing';
import type { LiveMachines } from '../guest/live-machines';
import type { OwnAddress } from '../guest/own-address';
import type { UrlSigner } from '@inquest/http';
import { DEFAULT_TERMINAL_LIMITS, type TerminalLimits } from './terminal-limits';
import { Terminals } from './terminals.service';

const machineId = 'n1-2345678923';

describe('Terminals', () => {
  let guest: FakeGuest;
  let terminals: Terminals;

  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  beforeEach(async () => {
    guest = await createFakeGuest();
    guest.agent.execs.script = () => ({});
  });
  afterEach(() => {
    terminals.beforeApplicationShutdown();
    return guest.link.close();
  });

  const begin = (limits: Partial<TerminalLimits>): void => {
    const life = { machineId, incarnation: 1, agent: new GuestAgentClient(guest.link) };
    const machines = {
      require: () => Promise.resolve(life),
      run: (_: unknown, verb: () => Promise<unknown>) => verb(),
      explain: (_: unknown, e: unknown) => Promise.resolve(toDomainError(e)),
    };
    terminals = new Terminals(
      machines as unknown as LiveMachines,
      {} as unknown as OwnAddress,
      {} as unknown as UrlSigner,
      { ...DEFAULT_TERMINAL_LIMITS, sweepMs: 5, ...limits },
    );
    terminals.onModuleInit();
  };
  const open = () => terminals.open(dto(OpenTerminalRequest, { machineId, command: 'sh' }));
  const show = (terminalId: string) => terminals.show({ machineId, terminalId });

  it('closes what nobody looks at once it has been idle for long enough, and ends its command', async () => {
    begin({ idleMs: 20 });
    const { terminalId } = await open();
    await eventually(() => show(terminalId).state === 'ended');
    expect(show(terminalId)).toMatchObject({ reason: 'idle', message: expect.stringContaining('20 ms') });
    await eventually(() => guest.agent.execs.terminals[0]?.isHungUp === true);
  });

  it('forgets what has ended after a while', async () => {
    begin({ keepEndedMs: 20 });
    const { terminalId } = await open();
    await terminals.close({ machineId, terminalId });
    await eventually(() => terminals.list(machineId).items.length === 0);
    expect(() => show(terminalId)).toThrow(expect.objectContaining({ code: 'TERMINAL_UNKNOWN' }));
  });

  it('counts those that are being opened: asking for all at once gets no more than one by one', async () => {
    begin({ perMachine: 2 });
    const answers = await Promise.allSettled([open(), open(), open()]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(guest.agent.execs.terminals).toHaveLength(2);
  });
});
