/**
 * Long polls over keyed state. Whoever changes the state calls `notify(key)`; `wait` reads it again after each notice.
 * Holds nothing for a key that nobody waits for.
 */
export class StateWaiters {
  private readonly waiters = new Map<string, Set<() => void>>();

  /** Wakes everybody who waits for `key`. */
  notify(key: string): void {
    for (const wake of [...(this.waiters.get(key) ?? [])]) wake();
  }

  /** The first state that `isWanted`, or the state as it is after `waitMs`. Rejects when `read` does. */
  async wait<T>(key: string, read: () => Promise<T>, isWanted: (state: T) => boolean, waitMs: number): Promise<T> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      // Subscribed before the read: a change in between is not missed.
      const notice = this.nextNotice(key, Math.max(0, deadline - performance.now()));
      try {
        const state = await read();
        if (isWanted(state) || performance.now() >= deadline) return state;
        await notice.arrived;
      } finally {
        notice.cancel();
      }
    }
  }

  /** How many wait, over all keys. */
  get size(): number {
    return [...this.waiters.values()].reduce((sum, set) => sum + set.size, 0);
  }

  private nextNotice(key: string, withinMs: number): { readonly arrived: Promise<void>; readonly cancel: () => void } {
    const set = this.waiters.get(key) ?? new Set();
    this.waiters.set(key, set);
    let settle: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (settle = resolve));
    const cancel = (): void => {
      clearTimeout(timer);
      set.delete(cancel);
      if (set.size === 0 && this.waiters.get(key) === set) this.waiters.delete(key);
      settle();
    };
    const timer = setTimeout(cancel, withinMs);
    set.add(cancel);
    return { arrived, cancel };
  }
}
