import type { NodeView } from '@inquest/contracts-vm';
import { systemClock } from '@inquest/kernel';
import { KnownNodes } from './known-nodes';

const node = (name: string): NodeView => ({
  node: name,
  driver: 'qemu',
  accelerator: 'tcg',
  acceleratorReason: '',
  memoryTotalMib: 8192,
  memoryAvailableMib: 4096,
  liveMachines: 0,
  warmMachines: 0,
});

describe('KnownNodes', () => {
  let nowMs: number;
  let answers: NodeView[];
  let asked: number;
  let known: KnownNodes;
  beforeEach(() => {
    nowMs = 1_000_000;
    answers = [node('a')];
    asked = 0;
    jest.spyOn(systemClock, 'monotonicMs').mockImplementation(() => nowMs);
    known = new KnownNodes(async () => {
      asked++;
      return answers;
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('knows nothing before it has asked, nor when nobody answered', async () => {
    expect(known.recent()).toBeNull();
    answers = [];
    await known.refresh();
    expect(known.recent()).toBeNull();
  });

  it('gives fresh facts without asking again', async () => {
    await known.refresh();
    nowMs += 1_000;
    known.renew();
    expect(known.recent()).toEqual([node('a')]);
    expect(asked).toBe(1);
  });

  it('gives older facts at once and asks once for the next caller', async () => {
    await known.refresh();
    answers = [node('a'), node('b')];
    nowMs += 1_001;
    known.renew();
    known.renew();
    expect(known.recent()).toEqual([node('a')]);
    expect(asked).toBe(2);
    await Promise.resolve();
    await Promise.resolve();
    expect(known.recent()).toEqual([node('a'), node('b')]);
  });

  it('forgets what is too old to place anything by', async () => {
    await known.refresh();
    nowMs += 30_001;
    expect(known.recent()).toBeNull();
  });
});
