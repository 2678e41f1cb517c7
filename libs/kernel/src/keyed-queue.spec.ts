import { KeyedQueue } from './keyed-queue';

describe('KeyedQueue', () => {
  it('runs the work of one key in order, also after a failure', async () => {
    const queue = new KeyedQueue();
    const order: string[] = [];
    const failing = queue.run('m', async () => {
      await Promise.resolve();
      order.push('first');
      throw new Error('first failed');
    });
    const second = queue.run('m', () => Promise.resolve(void order.push('second')));
    await expect(failing).rejects.toThrow('first failed');
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  it('does not make one key wait for another', async () => {
    const queue = new KeyedQueue();
    void queue.run('stuck', () => new Promise(() => undefined));
    await expect(queue.run('free', () => Promise.resolve('done'))).resolves.toBe('done');
  });

  it('is idle once everything asked so far has settled', async () => {
    const queue = new KeyedQueue();
    let done = false;
    void queue.run('m', async () => {
      await Promise.resolve();
      done = true;
    });
    await queue.idle('m');
    expect(done).toBe(true);
  });
});
