import { eventually } from './eventually';

describe('eventually', () => {
  it('gives the first result that is neither a failure nor false', async () => {
    const outcomes = [() => false, () => Promise.reject(new Error('not yet')), () => 'there'];
    expect(await eventually(() => outcomes.shift()?.() as string | false, { intervalMs: 1 })).toBe('there');
  });

  it('says what was missing when time is up', async () => {
    const attempt = eventually(() => Promise.reject(new Error('no file')), { timeoutMs: 5, intervalMs: 1 });
    await expect(attempt).rejects.toMatchObject({
      message: 'still not true after 5 ms',
      cause: { message: 'no file' },
    });
  });
});
