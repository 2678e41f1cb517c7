import { sampleMachine } from '../testing/samples';
import { givenLines, machineLine } from './machine-line';

const share = {
  directory: '/srv/docs',
  guestPath: '/mnt/docs',
  outsideLinks: 0,
  namedLinks: [],
  isFullyLookedAt: true,
};

describe('a machine in text', () => {
  it('is one line, with its address when it is in a group', () => {
    expect(machineLine(sampleMachine())).toBe(
      'box (local-2345678923)  tiny:1  256 MiB  tcg  ready: the guest agent answers',
    );
    const peer = { group: 'lab', index: 2, address: '10.190.239.2' };
    expect(machineLine(sampleMachine({ peer }))).toContain('(local-2345678923)  10.190.239.2  tiny:1');
  });

  it('says nothing of what it was not given', () => {
    expect(givenLines(sampleMachine())).toEqual([]);
  });

  it('tells what it was given, and what it will have only after a reset', () => {
    const shares = [
      { ...share, isAttached: true },
      { ...share, guestPath: '/mnt/new', isAttached: false },
    ];
    const machine = sampleMachine({ hasScreen: true, rtcBaseMs: Date.UTC(2024, 1, 29, 12), shares });
    expect(givenLines(machine)).toEqual([
      '  clock: starts at 2024-02-29T12:00:00.000Z',
      '  screen: see it with vmctl shot',
      '  share: /srv/docs at /mnt/docs',
      '  share: /srv/docs at /mnt/new, after its next reset',
    ]);
  });
});
