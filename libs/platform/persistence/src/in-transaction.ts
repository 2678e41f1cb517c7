import type { DataSource, EntityManager } from 'typeorm';

/** SQLSTATE of serialization_failure and deadlock_detected: Postgres rolled back, and says to try again. */
const RETRYABLE = ['40001', '40P01'];
const MAX_ATTEMPTS = 3;

/**
 * Runs `work` in one transaction: all of it is committed, or nothing when it throws. After a deadlock `work` runs again,
 * up to three times in all, so it must change nothing but the database. Throws what `work` throws.
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await dataSource.transaction(work);
    } catch (e) {
      if (attempt >= MAX_ATTEMPTS || !isRetryable(e)) throw e;
    }
  }
}

function isRetryable(e: unknown): boolean {
  const { code } = ((e as { driverError?: unknown }).driverError ?? {}) as { code?: unknown };
  return typeof code === 'string' && RETRYABLE.includes(code);
}
