import { neighboursOf, peerView } from './machine-peer';

describe('a machine in a group', () => {
  const peer = (index: number, count: number) => ({ group: 'lab', groupId: 'grp-1', index, count });

  it('is wired to the first one, and the first one to all', () => {
    expect(neighboursOf(peer(1, 2))).toEqual([2]);
    expect(neighboursOf(peer(2, 2))).toEqual([1]);
    expect(neighboursOf(peer(1, 4))).toEqual([2, 3, 4]);
    expect(neighboursOf(peer(4, 4))).toEqual([1]);
  });

  it('has an address that follows from its number', () => {
    expect(peerView(peer(3, 4))).toEqual({ group: 'lab', index: 3, address: '10.190.239.3' });
  });
});
