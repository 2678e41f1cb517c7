import type { NodeView } from '@inquest/contracts-vm';
import { chooseNode } from './choose-node';

const node = (name: string, memoryAvailableMib: number): NodeView => ({
  node: name,
  driver: 'qemu',
  accelerator: 'tcg',
  acceleratorReason: '',
  memoryTotalMib: 8192,
  memoryAvailableMib,
  liveMachines: 0,
  warmMachines: 0,
});

describe('chooseNode', () => {
  it('takes the node with the most memory left', () => {
    expect(chooseNode([node('a', 512), node('b', 4096), node('c', 1024)], 256).node).toBe('b');
  });

  it('says what every node has left when none is big enough', () => {
    expect(() => chooseNode([node('a', 512), node('b', 300)], 1024)).toThrow(
      expect.objectContaining({
        code: 'NODE_EXHAUSTED',
        message: 'no node has 1024 MiB to spare (a: 512 MiB, b: 300 MiB)',
      }),
    );
  });

  it('tells a silent platform from a full one', () => {
    expect(() => chooseNode([], 1)).toThrow(expect.objectContaining({ code: 'NODE_UNAVAILABLE', fault: 'infra' }));
  });
});
