import { WARM_POOL_PATTERN, warmPoolTargets } from './warm-pool-targets';

describe('warmPoolTargets', () => {
  it('is no pool at all by default', () => {
    expect(warmPoolTargets(undefined)).toEqual([]);
    expect(warmPoolTargets('')).toEqual([]);
  });

  it('has a size for each image, the last one that was given', () => {
    expect(warmPoolTargets('tiny=2,debian=1,tiny=3,desktop=0')).toEqual([
      { image: 'tiny', size: 3 },
      { image: 'debian', size: 1 },
    ]);
  });

  it.each(['tiny=2', 'a=1,b=22'])('accepts %j', (text) => {
    expect(text).toMatch(WARM_POOL_PATTERN);
  });

  it.each(['tiny', 'tiny=', 'tiny=-1', '=2', 'tiny=2,', 'tiny=100', '../x=1', 'Tiny=1', 'tiny=2 '])(
    'refuses %j',
    (text) => {
      expect(text).not.toMatch(WARM_POOL_PATTERN);
    },
  );
});
