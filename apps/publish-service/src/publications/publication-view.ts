import type { PublicationView } from '@inquest/contracts-publish';
import { cutListing } from '../commits/commit-view';
import type { PublicationEntity } from './publication.entity';

/** Files held back that each publication of a listing shows; `show` has the rest. */
const LISTED_HELD = 5;

/** The row as its readers see it. */
export const publicationView = (row: PublicationEntity): PublicationView => ({
  publicationId: row.publicationId,
  sessionId: row.sessionId,
  project: row.project,
  state: row.state,
  forge: row.forge,
  branch: row.branch,
  baseBranch: row.baseBranch,
  commit: row.commit,
  url: row.url,
  isVerified: row.isVerified,
  message: row.message,
  error: row.error,
  attempts: row.attempts,
  nextAttemptAtMs: row.nextAttemptAt?.getTime() ?? null,
  steps: row.steps,
  release: row.release,
  heldCount: row.heldCount,
  held: cutListing(row.held),
  rulesProblem: row.rulesProblem,
  createdAtMs: row.createdAt.getTime(),
  publishedAtMs: row.publishedAt?.getTime() ?? null,
});

/** The same in a listing, where only the counts are complete and a release has its tag and title. */
export const listedView = (row: PublicationEntity): PublicationView => ({
  ...publicationView(row),
  held: row.held.slice(0, LISTED_HELD),
  release: row.release === null ? null : { ...row.release, notes: '', artifacts: [] },
});
