import { gitForgeError } from '@inquest/git-forge';
import { CircuitBreaker } from './circuit-breaker';

describe('CircuitBreaker', () => {
  let nowMs: number;
  let tries: number;
  let breaker: CircuitBreaker;
  beforeEach(() => {
    nowMs = 0;
    tries = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    breaker = new CircuitBreaker({ failureLimit: 2, coolDownMs: 1000 }, clock);
  });

  const failing = (code: 'FORGE_UNAVAILABLE' | 'FORGE_BRANCH_MOVED') => async () => {
    tries++;
    throw gitForgeError(code, 'failed');
  };
  const run = (code: 'FORGE_UNAVAILABLE' | 'FORGE_BRANCH_MOVED') => breaker.run(failing(code)).catch((e: unknown) => e);

  it('stops trying after its limit, and lets one try after the cool-down', async () => {
    for (let i = 0; i < 5; i++) expect(await run('FORGE_UNAVAILABLE')).toMatchObject({ code: 'FORGE_UNAVAILABLE' });
    expect(tries).toBe(2);
    nowMs = 1000;
    await Promise.all([run('FORGE_UNAVAILABLE'), run('FORGE_UNAVAILABLE')]);
    expect(tries).toBe(3);
  });

  it('lets everybody through again after a success', async () => {
    for (let i = 0; i < 2; i++) await run('FORGE_UNAVAILABLE');
    nowMs = 1000;
    expect(await breaker.run(() => Promise.resolve('up'))).toBe('up');
    expect(await breaker.run(() => Promise.resolve('still up'))).toBe('still up');
  });

  it('takes no refusal for a failure of the forge', async () => {
    for (let i = 0; i < 5; i++) expect(await run('FORGE_BRANCH_MOVED')).toMatchObject({ code: 'FORGE_BRANCH_MOVED' });
    expect(tries).toBe(5);
  });

  it('lets an operator look while it is open', async () => {
    for (let i = 0; i < 3; i++) await run('FORGE_UNAVAILABLE');
    expect(await breaker.observe(() => Promise.resolve('up'))).toBe('up');
    expect(await breaker.run(() => Promise.resolve('up'))).toBe('up');
  });
});
