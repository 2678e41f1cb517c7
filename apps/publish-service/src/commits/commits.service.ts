import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import {
  publishError,
  type CommitRequest,
  type CommitView,
  type StagedView,
  type StageProjectRequest,
} from '@inquest/contracts-publish';
import type { ErrorView } from '@inquest/contracts-base';
import { hasCode, type ProjectId } from '@inquest/kernel';
import type { CommitResult } from '@inquest/work-tree';
import { ProjectsService } from '../projects/projects.service';
import { PublishServiceConfig } from '../publish-service.config';
import { commitView } from './commit-view';
import { CommitEntity } from './commit.entity';
import { GuestTransfer } from './guest-transfer';
import { readProjectRules, scratchFilter } from './project-rules';
import { SessionBaseEntity } from './session-base.entity';

/** Collecting and committing a tree at the size limit on a slow disk. */
const COMMIT_TIMEOUT_MS = 280_000;

/** Commits on the host: the tree comes out of the guest, the repository never goes in. */
@Injectable()
export class CommitsService {
  private readonly bases: Repository<SessionBaseEntity>;

  constructor(
    private readonly config: PublishServiceConfig,
    private readonly database: DataSource,
    private readonly projects: ProjectsService,
    private readonly guest: GuestTransfer,
  ) {
    this.bases = database.getRepository(SessionBaseEntity);
  }

  /**
   * Puts the project's files into the session's machine and remembers what it began with. May be repeated until the
   * session's first commit. Throws `PROJECT_UNKNOWN` and what vm-service answers.
   */
  async stage({ project, machineId, sessionId }: StageProjectRequest): Promise<StagedView> {
    const signal = AbortSignal.timeout(COMMIT_TIMEOUT_MS);
    const repository = await this.projects.open(project as ProjectId);
    const { archive, base } = await repository.exportTree(signal);
    const staged = await this.guest.put(machineId, archive, signal);
    await this.bases.upsert({ sessionId, project, base }, ['sessionId']);
    return staged;
  }

  /**
   * Commits what the session's guest changed. The same request id commits once and gets the same answer again. Throws
   * `PROJECT_UNKNOWN`, `PROJECT_BUSY`, `COMMIT_SESSION_UNSTAGED`, `COMMIT_TREE_REFUSED`, `COMMIT_CONFLICT` and what vm-service answers; the branch
   * did not move then.
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
    const { base } = await this.baseOf(request);
    const { rules, problem } = await readProjectRules(repository, signal);
    const archive = await this.guest.get(request.machineId, signal);
    const tree = await repository
      .collect(archive, { fileBytes: this.config.maxFileBytes }, signal)
      .catch((e: unknown) => Promise.reject(treeRefused(request.project, e)));
    try {
      const { committerName, committerEmail } = this.config;
      const atMs = Date.now();
      const author = { ...request.author, atMs };
      const committer = { name: committerName, email: committerEmail, atMs };
      const filter = scratchFilter(rules, request.forceInclude);
      const result = await repository.commit(
        { tree, base, message: request.message, author, committer, filter, beginning: this.beginning(request.project) },
        signal,
      );
      return await this.record(request, result, problem);
    } finally {
      await tree.discard();
    }
  }

  /** Sessions with branches of their own ask for a merge, also the first one of a project. */
  private beginning(project: string): string | null {
    return this.config.branchPolicy === 'session'
      ? `Begin ${project}\n\nEmpty, so that what follows can be reviewed.`
      : null;
  }

  /** What the session's guest began with. Throws `COMMIT_SESSION_UNSTAGED`. */
  private async baseOf({ sessionId, project }: CommitRequest): Promise<SessionBaseEntity> {
    const row = await this.bases.findOneBy({ sessionId, project });
    if (row !== null) return row;
    const message = `session ${sessionId} never got the files of project "${project}"`;
    throw publishError('COMMIT_SESSION_UNSTAGED', message, { session: sessionId, project });
  }

  private record(request: CommitRequest, result: CommitResult, rulesProblem: ErrorView | null): Promise<CommitView> {
    const { requestId, sessionId, project } = request;
    const view = commitView(result, rulesProblem);
    return this.database.transaction(async (manager) => {
      await manager.insert(CommitEntity, { requestId, sessionId, project, view, at: new Date() });
      const progress = { base: result.base, ...(result.commit === null ? {} : { head: result.commit }) };
      await manager.update(SessionBaseEntity, { sessionId }, progress);
      return view;
    });
  }
}

function treeRefused(project: string, e: unknown): unknown {
  const isTree = ['TREE_ARCHIVE_INVALID', 'TREE_TOO_LARGE'].some((code) => hasCode(e, code));
  if (!isTree) return e;
  const message = `the tree of project "${project}" cannot be taken: ${(e as Error).message}`;
  return publishError('COMMIT_TREE_REFUSED', message, { project }, e);
}
