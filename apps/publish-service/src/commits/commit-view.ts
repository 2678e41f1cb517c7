import { MAX_LISTED_PATHS, type CommitView, type HeldView } from '@inquest/contracts-publish';
import { cutText, type ErrorView } from '@inquest/contracts-base';
import type { CommitResult, LeftOut } from '@inquest/work-tree';

/** Of one listing, as JSON: three of them fit into a NATS message of 1 MiB, whatever names a guest gives its files. */
const MAX_LISTING_BYTES = 128 * 1024;

/** For a model and a person, who read all of it. */
const MAX_WARNING_LENGTH = 4096;

/** The commit as its readers see it. Listings are cut, the counts stay exact. */
export function commitView(result: CommitResult, rulesProblem: ErrorView | null): CommitView {
  const changed = [...result.kept, ...result.deleted];
  return {
    commit: result.commit,
    branch: result.branch,
    keptCount: changed.length,
    kept: cutListing(changed),
    heldCount: result.held.length,
    held: cutListing(result.held).map(heldView),
    refusedCount: result.refused.length,
    refused: cutListing(result.refused).map(heldView),
    warnings: rulesProblem === null ? [] : [cutText(warningOf(rulesProblem), MAX_WARNING_LENGTH)],
    rulesProblem,
  };
}

const warningOf = ({ message, remediation }: ErrorView): string =>
  `The project's own scratch rules were left out: ${message} ${remediation}`;

/** The first items that a message can carry. */
export function cutListing<T>(items: readonly T[]): T[] {
  const listed: T[] = [];
  let bytes = 0;
  for (const item of items.slice(0, MAX_LISTED_PATHS)) {
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (bytes > MAX_LISTING_BYTES) break;
    listed.push(item);
  }
  return listed;
}

const heldView = ({ path, rule, why }: LeftOut): HeldView => ({
  path: cutText(path, 4096),
  rule: cutText(rule, 128),
  why: cutText(why, 1024),
});
