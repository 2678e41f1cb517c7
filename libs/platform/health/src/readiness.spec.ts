import { kernelError } from '@inquest/kernel';
import { Readiness } from './readiness';

describe('Readiness', () => {
  it('reports each check by itself, the stuck one after its own timeout', async () => {
    const readiness = new Readiness();
    readiness.register({ name: 'fine', timeoutMs: 2_000, check: () => Promise.resolve() });
    readiness.register({ name: 'stuck', timeoutMs: 5, check: () => new Promise(() => undefined) });
    readiness.register({
      name: 'lost',
      timeoutMs: 2_000,
      check: () => Promise.reject(kernelError('DEADLINE_EXCEEDED', 'no answer from the rack')),
    });
    await expect(readiness.results()).resolves.toEqual([
      { name: 'fine', isReady: true, durationMs: expect.any(Number) as number, message: null },
      expect.objectContaining({ name: 'stuck', isReady: false, message: 'the check of stuck took longer than 5 ms' }),
      expect.objectContaining({ name: 'lost', isReady: false, message: 'no answer from the rack' }),
    ]);
  });

  it('masks what an unexpected failure says, because everybody may read it', async () => {
    const readiness = new Readiness();
    readiness.register({ name: 'db', timeoutMs: 2_000, check: () => Promise.reject(new Error('password=hunter2')) });
    expect(JSON.stringify(await readiness.results())).not.toContain('hunter2');
  });

  it('looks once for probes that come together', async () => {
    let looks = 0;
    const readiness = new Readiness();
    readiness.register({ name: 'counted', timeoutMs: 2_000, check: async () => void looks++ });
    await Promise.all([readiness.results(), readiness.results(), readiness.results()]);
    expect(looks).toBe(1);
  });
});
