/** Undoes one acquire. Must be safe to call when the thing is already gone. */
export type Release = () => void | Promise<void>;

/**
 * A last-in-first-out stack of releases. Register the release on the line after each acquire; then every way out
 * (success, throw, abort) is one `await cleanup.run()`.
 */
export class CleanupStack {
  private releases: { readonly what: string; readonly release: Release }[] = [];
  private ran: Promise<void> | null = null;

  /** Once `run` was called, a late `defer` releases at once: nothing acquired during teardown may leak. */
  defer(what: string, release: Release): void {
    if (this.ran === null) this.releases.push({ what, release });
    else this.ran = Promise.allSettled([this.ran, Promise.resolve().then(release)]).then(throwFirst);
  }

  /** Forgets all releases: the acquired things now belong to somebody else. */
  disown(): void {
    this.releases = [];
  }

  /** Runs every release once, newest first, even when some fail; then throws one `AggregateError` naming the failures. */
  run(): Promise<void> {
    this.ran ??= this.releaseAll();
    return this.ran;
  }

  private async releaseAll(): Promise<void> {
    const failures: Error[] = [];
    for (const { what, release } of this.releases.reverse()) {
      try {
        await release();
      } catch (e) {
        failures.push(new Error(`could not release ${what}`, { cause: e }));
      }
    }
    this.releases = [];
    if (failures.length > 0) throw new AggregateError(failures, failures.map((f) => f.message).join('; '));
  }
}

const throwFirst = (results: readonly PromiseSettledResult<void>[]): void => {
  const failed = results.find((r) => r.status === 'rejected');
  if (failed) throw failed.reason;
};
