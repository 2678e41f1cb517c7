import {
  ID_PATTERN,
  isGeneratedId,
  newId,
  newMachineId,
  nodeOfMachine,
  parseId,
  type MachineId,
  type NodeId,
} from './ids';

describe('ids', () => {
  it.each(['', 'a/b', '../etc', 'a b', 'x'.repeat(65), 'a\0', 'é', 'a\n', '.', 7, null, undefined, {}])(
    'rejects %j instead of repairing it',
    (value) => {
      expect(() => parseId(value, 'machine')).toThrow(expect.objectContaining({ code: 'ID_INVALID', fault: 'caller' }));
    },
  );

  it('accepts what it generates', () => {
    const id = newId('m');
    expect(id).toMatch(ID_PATTERN);
    expect(parseId(id, 'machine')).toBe(id);
  });

  it('does not repeat itself', () => {
    expect(new Set(Array.from({ length: 2000 }, () => newId('m'))).size).toBe(2000);
  });

  it('gives back the node of a machine id, also when the node name has a dash', () => {
    expect(nodeOfMachine(newMachineId('rack-7' as NodeId))).toBe('rack-7');
  });

  it('refuses a machine id without a node', () => {
    expect(() => nodeOfMachine('orphan' as MachineId)).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
  });

  it('tells what it generates from names that people choose', () => {
    expect(isGeneratedId(newMachineId('rack-7' as NodeId))).toBe(true);
    for (const name of ['box', 'test-background', '-23456789bc', 'a-23456789b'])
      expect(isGeneratedId(name)).toBe(false);
  });
});
