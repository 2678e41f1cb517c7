import type { GitForge } from './git-forge';

/** What some forges can do besides taking pushes. */
export const FORGE_CAPABILITIES = ['pull-requests', 'releases', 'topics'] as const;
export type ForgeCapability = (typeof FORGE_CAPABILITIES)[number];

export interface PullRequestRequest {
  readonly project: string;
  /** Branch with the commits, on the forge already. */
  readonly head: string;
  /** Branch that they are meant for, on the forge already. */
  readonly base: string;
  /** One line of 1 to 255 characters. */
  readonly title: string;
  /** Markdown, at most 65 536 characters. */
  readonly body: string;
  /**
   * A text in every body of this pull request and in no other one: by it the pull request is found again when somebody
   * has merged or closed it, or changed its title. 8 to 255 characters.
   */
  readonly marker: string;
}

export const PULL_REQUEST_STATES = ['open', 'merged', 'closed'] as const;
export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

export interface ForgePullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: PullRequestState;
}

/** A forge on which people review. */
export interface PullRequestForge {
  /**
   * Opens a pull request, or brings title and body of the one that is open between these branches up to date: there is
   * one, however often it is asked for. One with the marker that was merged or closed meanwhile is left as it is and
   * given back, also when its branch is gone: a person has dealt with it. Rejects with `FORGE_REQUEST_INVALID`, `FORGE_BRANCH_INVALID`,
   * `FORGE_BRANCH_MISSING`, `FORGE_REPOSITORY_MISSING`, `FORGE_REQUEST_REFUSED` or as `GitForge.check` does.
   */
  openPullRequest(request: PullRequestRequest, signal: AbortSignal): Promise<ForgePullRequest>;
}

/** A file on this host that a release offers. */
export interface ReleaseArtifact {
  /** Its name on the forge: letters, digits, `_ . -`, not beginning with a dot or dash; at most 128 characters. */
  readonly name: string;
  readonly filePath: string;
  /** The file must have this size when it is uploaded. */
  readonly sizeBytes: number;
}

export interface ReleaseRequest {
  readonly project: string;
  /** A tag name of the same characters as a branch name. Made at `commit` when it does not exist. */
  readonly tag: string;
  /** Full id of a commit that was pushed. */
  readonly commit: string;
  readonly title: string;
  /** Markdown, at most 65 536 characters. */
  readonly notes: string;
  /** At most 100, with different names. */
  readonly artifacts: readonly ReleaseArtifact[];
}

/** A release that was read back: the tag was at the commit and every artifact had its size. */
export interface ForgeRelease {
  readonly tag: string;
  readonly commit: string;
  readonly url: string;
  readonly verified: true;
}

/** A forge that offers releases with files. */
export interface ReleaseForge {
  /**
   * Publishes a release once all its artifacts are there, so that nobody sees half of it. May be repeated after a crash:
   * artifacts that are there with their size are kept. Never moves a tag: `FORGE_TAG_TAKEN`. Other rejections:
   * `FORGE_REQUEST_INVALID`, `FORGE_COMMIT_UNKNOWN`, `FORGE_REPOSITORY_MISSING`, `FORGE_ARTIFACT_UNREADABLE`,
   * `FORGE_CHANGE_UNVERIFIED`, `FORGE_REQUEST_REFUSED` or as `GitForge.check` does.
   */
  publishRelease(request: ReleaseRequest, signal: AbortSignal): Promise<ForgeRelease>;
}

/** A forge on which repositories are found by topic. */
export interface TopicForge {
  /**
   * Adds topics and keeps those that are there. A topic is 1 to 35 lower-case letters, digits and dashes, beginning with
   * a letter or digit; at most 25. Rejects with `FORGE_REQUEST_INVALID`, `FORGE_REPOSITORY_MISSING`,
   * `FORGE_CHANGE_UNVERIFIED`, `FORGE_REQUEST_REFUSED` or as `GitForge.check` does.
   */
  addTopics(project: string, topics: readonly string[], signal: AbortSignal): Promise<void>;
}

export const opensPullRequests = (forge: GitForge): forge is GitForge & PullRequestForge => 'openPullRequest' in forge;

export const publishesReleases = (forge: GitForge): forge is GitForge & ReleaseForge => 'publishRelease' in forge;

export const takesTopics = (forge: GitForge): forge is GitForge & TopicForge => 'addTopics' in forge;

/** What a forge can do, for people and configuration. */
export function capabilitiesOf(forge: GitForge): readonly ForgeCapability[] {
  const has: Readonly<Record<ForgeCapability, boolean>> = {
    'pull-requests': opensPullRequests(forge),
    releases: publishesReleases(forge),
    topics: takesTopics(forge),
  };
  return FORGE_CAPABILITIES.filter((capability) => has[capability]);
}
