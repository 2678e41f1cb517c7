import { Injectable } from '@nestjs/common';
import { parse } from 'yaml';
import { DataSource } from 'typeorm';
import {
  MAX_LISTED_PATHS,
  publishError,
  type CommitRequest,
  type CommitView,
  type HeldView,
  type StagedView,
  type StageProjectRequest,
} from '@inquest/contracts-publish';
import { hasCode, type ProjectId } from '@inquest/kernel';
import { filterTree, parseScratchRules } from '@inquest/scratch-filter';
import type { CommitResult, LeftOut, ProjectRepository, ScratchFilter } from '@inquest/work-tree';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import { CommitEntity } from './commit.entity';
import { GuestTransfer } from './guest-transfer';
import { SessionBaseEntity } from './session-base.entity';

/** Collecting and committing a tree at the size limit on a slow disk. */
const COMMIT_TIMEOUT_MS = 280_000;
/** Where a project keeps its own scratch rules. */
const RULES_PATH = '.inquest/scratch.yaml';
const MAX_RULES_BYTES = 64 * 1024;

/** Commits on the host: the tree comes out of the guest, the repository never goes in. */
@Injectable()
export class CommitsService {
  constructor(
    private readonly config: PublishServiceConfig,
    private readonly database: DataSource,
    private readonly projects: ProjectsService,
    private readonly guest: GuestTransfer,
  ) {}

  /** Puts the project's files into the session's machine and remembers what it began with. May be repeated. */
  async stage({ project, machineId, sessionId }: StageProjectRequest): Promise<StagedView> {
    const signal = AbortSignal.timeout(COMMIT_TIMEOUT_MS);
    const repository = await this.projects.open(project as ProjectId);
    const { archive, base } = await repository.exportTree(signal);
    const staged = await this.guest.put(machineId, archive, signal);
    await this.database.getRepository(SessionBaseEntity).save({ sessionId, project, base, head: null });
    return staged;
  }

  /**
   * Commits what the session's guest changed. The same request id commits once. Throws `PROJECT_UNKNOWN`,
   * `COMMIT_TREE_REFUSED`, `COMMIT_CONFLICT` and what vm-service answers; the branch did not move then.
   */
  commit(request: CommitRequest): Promise<CommitView> {
    return this.projects.exclusively(request.project as ProjectId, async () => {
      const earlier = await this.database.getRepository(CommitEntity).findOneBy({ requestId: request.requestId });
      return earlier?.view ?? this.commitNow(request);
    });
  }

  private async commitNow(request: CommitRequest): Promise<CommitView> {
    const signal = AbortSignal.timeout(COMMIT_TIMEOUT_MS);
    const repository = await this.projects.open(request.project as ProjectId);
    const bases = this.database.getRepository(SessionBaseEntity);
    const base = (await bases.findOneBy({ sessionId: request.sessionId }))?.base ?? null;
    const archive = await this.guest.get(request.machineId, signal);
    const tree = await repository
      .collect(archive, { fileBytes: this.config.maxFileBytes }, signal)
      .catch((e: unknown) => Promise.reject(treeRefused(request.project, e)));
    try {
      const { committerName, committerEmail } = this.config;
      const atMs = Date.now();
      const author = { ...request.author, atMs };
      const committer = { name: committerName, email: committerEmail, atMs };
      const filter = await scratchFilter(repository, request.forceInclude, signal);
      const result = await repository.commit(
        { tree, base, message: request.message, author, committer, filter },
        signal,
      );
      return await this.record(request, result);
    } finally {
      await tree.discard();
    }
  }

  private record(request: CommitRequest, result: CommitResult): Promise<CommitView> {
    const { requestId, sessionId, project } = request;
    const view = commitView(result);
    return this.database.transaction(async (manager) => {
      await manager.insert(CommitEntity, { requestId, sessionId, project, view, at: new Date() });
      const progress = { base: result.base, ...(result.commit === null ? {} : { head: result.commit }) };
      await manager.update(SessionBaseEntity, { sessionId }, progress);
      return view;
    });
  }
}

/**
 * The project's own rules come from its last commit: a guest that could change them in its tree would decide for itself
 * what is published. Throws `SCRATCH_RULES_INVALID`.
 */
async function scratchFilter(
  repository: ProjectRepository,
  forceInclude: readonly string[],
  signal: AbortSignal,
): Promise<ScratchFilter> {
  const text = await repository.readFile(RULES_PATH, MAX_RULES_BYTES, signal);
  const projectRules = text === null ? null : parseScratchRules(parse(text.toString('utf8'), { maxAliasCount: 0 }));
  return (entries) => filterTree(entries, { projectRules, forceInclude });
}

function treeRefused(project: string, e: unknown): unknown {
  const isTree = ['TREE_ARCHIVE_INVALID', 'TREE_TOO_LARGE'].some((code) => hasCode(e, code));
  if (!isTree) return e;
  return publishError(
    'COMMIT_TREE_REFUSED',
    `the tree of project "${project}" cannot be taken: ${(e as Error).message}`,
    { project },
    e,
  );
}

const commitView = (result: CommitResult): CommitView => {
  const changed = [...result.kept, ...result.deleted];
  return {
    commit: result.commit,
    branch: result.branch,
    keptCount: changed.length,
    kept: changed.slice(0, MAX_LISTED_PATHS),
    heldCount: result.held.length,
    held: listed(result.held),
    refusedCount: result.refused.length,
    refused: listed(result.refused),
  };
};

const listed = (paths: readonly LeftOut[]): HeldView[] =>
  paths.slice(0, MAX_LISTED_PATHS).map(({ path, rule, why }) => ({ path, rule, why }));
