/** Nest token under which an app provides its `GitForge`. */
export const GIT_FORGE = Symbol('GIT_FORGE');

export interface PushRequest {
  /** The project's git directory on this host. It is only read. */
  readonly repositoryPath: string;
  /** Full id of a commit in that repository. */
  readonly commit: string;
  /** Branch on the forge, without `refs/heads/`. Made when it does not exist. */
  readonly branch: string;
  readonly project: string;
}

/** A push that was read back: at that moment the branch was at the commit. */
export interface PushResult {
  readonly branch: string;
  readonly commit: string;
  readonly verified: true;
}

/** A branch that the forge has now. */
export interface EnsuredBranch {
  /** False when it was there before. */
  readonly isMade: boolean;
}

export interface ForgeRepository {
  /** Where people and git find it. Never with credentials. */
  readonly url: string;
}

/** A place where git repositories are published. Projects are named by ids (`ID_INVALID` otherwise). */
export interface GitForge {
  /** For people and configuration, e.g. `bare`, `gitea`. */
  readonly name: string;

  /**
   * Rejects when publishing could not work now: with `FORGE_UNAVAILABLE` and the reason, and from forges with an account
   * also with `FORGE_TOKEN_UNREADABLE`, `FORGE_TOKEN_REJECTED`, `FORGE_SCOPE_MISSING`, `FORGE_REQUEST_REFUSED` or
   * `FORGE_RESPONSE_INVALID`. Changes nothing.
   */
  check(signal: AbortSignal): Promise<void>;

  /**
   * Makes the project's repository unless it exists. Idempotent, also when called twice at once. Rejects with
   * `FORGE_REPOSITORY_UNUSABLE` or `FORGE_UNAVAILABLE`; nothing half-made is left then.
   */
  ensureRepository(project: string, signal: AbortSignal): Promise<ForgeRepository>;

  /**
   * Moves a branch of the project forward to a commit, sends what the forge lacks, and reads the branch back before it
   * says so. Succeeds without a push when the branch is there already, so it may be repeated after a crash. Never forces:
   * when the branch has other commits it rejects with `FORGE_BRANCH_MOVED` and they stay. Other rejections:
   * `FORGE_BRANCH_INVALID`, `FORGE_COMMIT_UNKNOWN`, `FORGE_REPOSITORY_MISSING`, `FORGE_PUSH_FAILED`,
   * `FORGE_PUSH_UNVERIFIED`, `FORGE_UNAVAILABLE`. After `OPERATION_ABORTED` the branch is either where it was or at the
   * commit.
   */
  push(request: PushRequest, signal: AbortSignal): Promise<PushResult>;

  /**
   * Makes a branch at a commit unless the forge has it, and reads it back. One that is there is left alone, wherever it
   * is; so it may be repeated after a crash, and two makers do not disturb each other. Rejects as `push` does, but never
   * with `FORGE_BRANCH_MOVED`; the branch is as it was then, or at the commit.
   */
  ensureBranch(request: PushRequest, signal: AbortSignal): Promise<EnsuredBranch>;
}
