import { untilStored } from './until-stored';

describe('a write that must not be lost', () => {
  it('is repeated until the database takes it', async () => {
    const failures: unknown[] = [];
    let tries = 0;
    const write = (): Promise<string> => (++tries < 3 ? Promise.reject(new Error('away')) : Promise.resolve('stored'));
    const { signal } = new AbortController();
    await expect(untilStored(write, { signal, onRetry: (e) => failures.push(e) })).resolves.toBe('stored');
    expect(tries).toBe(3);
    expect(failures).toHaveLength(2);
  });

  it('is tried once, and fails with its own error, when the service is stopping already', async () => {
    let tries = 0;
    const write = (): Promise<never> => Promise.reject(new Error(`away ${++tries}`));
    const onRetry = (): void => undefined;
    await expect(untilStored(write, { signal: AbortSignal.abort(), onRetry })).rejects.toThrow('away 1');
    expect(tries).toBe(1);
  });

  it('is given up after one more try when the service stops in a pause', async () => {
    const stopping = new AbortController();
    let tries = 0;
    const write = (): Promise<never> => Promise.reject(new Error(`away ${++tries}`));
    const onRetry = (): void => stopping.abort();
    await expect(untilStored(write, { signal: stopping.signal, onRetry })).rejects.toThrow('away 2');
  });
});
