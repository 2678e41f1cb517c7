import { StateWaiters } from './state-waiters';

describe('StateWaiters', () => {
  it('answers at once when the state is already the wanted one', async () => {
    const waiters = new StateWaiters();
    await expect(
      waiters.wait(
        'm',
        () => Promise.resolve('ready'),
        (s) => s === 'ready',
        60_000,
      ),
    ).resolves.toBe('ready');
    expect(waiters.size).toBe(0);
  });

  it('answers with the change that happens while it waits', async () => {
    const waiters = new StateWaiters();
    let state = 'starting';
    const waiting = waiters.wait(
      'm',
      () => Promise.resolve(state),
      (s) => s === 'ready',
      60_000,
    );
    await Promise.resolve();
    state = 'ready';
    waiters.notify('m');
    await expect(waiting).resolves.toBe('ready');
    expect(waiters.size).toBe(0);
  });

  it('does not miss a change that happens while the state is being read', async () => {
    const waiters = new StateWaiters();
    let state = 'starting';
    const read = async (): Promise<string> => {
      const seen = state;
      if (seen === 'starting') {
        state = 'ready';
        waiters.notify('m');
      }
      return Promise.resolve(seen);
    };
    await expect(waiters.wait('m', read, (s) => s === 'ready', 60_000)).resolves.toBe('ready');
  });

  it('answers with the state as it is when time is up', async () => {
    const waiters = new StateWaiters();
    await expect(
      waiters.wait(
        'm',
        () => Promise.resolve('starting'),
        (s) => s === 'ready',
        5,
      ),
    ).resolves.toBe('starting');
    expect(waiters.size).toBe(0);
  });

  it('forgets its waiter when reading fails', async () => {
    const waiters = new StateWaiters();
    await expect(
      waiters.wait(
        'm',
        () => Promise.reject(new Error('gone')),
        () => true,
        60_000,
      ),
    ).rejects.toThrow('gone');
    expect(waiters.size).toBe(0);
  });
});
