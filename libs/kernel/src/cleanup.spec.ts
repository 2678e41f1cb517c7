import { CleanupStack } from './cleanup';

describe('CleanupStack', () => {
  it('releases the newest first', async () => {
    const order: string[] = [];
    const cleanup = new CleanupStack();
    cleanup.defer('first', () => void order.push('first'));
    cleanup.defer('second', () => void order.push('second'));
    await cleanup.run();
    expect(order).toEqual(['second', 'first']);
  });

  it('releases everything and names what failed when a release throws', async () => {
    const order: string[] = [];
    const cleanup = new CleanupStack();
    cleanup.defer('socket', () => void order.push('socket'));
    cleanup.defer('process', () => Promise.reject(new Error('stuck')));
    await expect(cleanup.run()).rejects.toThrow('could not release process');
    expect(order).toEqual(['socket']);
  });

  it('releases once, however often it is run', async () => {
    let count = 0;
    const cleanup = new CleanupStack();
    cleanup.defer('counter', () => void count++);
    await Promise.all([cleanup.run(), cleanup.run()]);
    expect(count).toBe(1);
  });

  it('releases at once what is acquired after teardown began', async () => {
    const cleanup = new CleanupStack();
    await cleanup.run();
    let released = false;
    cleanup.defer('late', () => void (released = true));
    await cleanup.run();
    expect(released).toBe(true);
  });

  it('leaves what it disowned alone', async () => {
    let released = false;
    const cleanup = new CleanupStack();
    cleanup.defer('handed over', () => void (released = true));
    cleanup.disown();
    await cleanup.run();
    expect(released).toBe(false);
  });
});
