/** Runs work one at a time per key, in the order asked; different keys do not wait for each other. */
export class KeyedQueue {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** The result of `work`, which starts when everything asked before under `key` has settled, however it did. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled: Promise<void> = result.then(
      () => this.forget(key, settled),
      () => this.forget(key, settled),
    );
    this.tails.set(key, settled);
    return result;
  }

  /** Resolves when nothing is running or waiting under `key`. */
  async idle(key: string): Promise<void> {
    await this.tails.get(key);
  }

  private forget(key: string, settled: Promise<void>): void {
    if (this.tails.get(key) === settled) this.tails.delete(key);
  }
}
