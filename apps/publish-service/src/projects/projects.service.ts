import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { publishError, type ProjectView } from '@inquest/contracts-publish';
import { KeyedQueue, parseId, type ProjectId } from '@inquest/kernel';
import { ProjectRepository } from '@inquest/work-tree';
import { PublishServiceConfig } from '../publish-service.config';
import { ProjectEntity } from './project.entity';

/** Commits of one project that wait for their turn. Each may take minutes, so more of them would only time out. */
const MAX_WAITING = 16;

/** Host-side repositories of projects. Work on one project goes one at a time. */
@Injectable()
export class ProjectsService {
  private readonly rows: Repository<ProjectEntity>;
  private readonly queue = new KeyedQueue();
  /** At work or waiting, by project. */
  private readonly admitted = new Map<ProjectId, number>();

  constructor(
    private readonly config: PublishServiceConfig,
    database: DataSource,
  ) {
    this.rows = database.getRepository(ProjectEntity);
  }

  /** Makes the project unless it is there. Throws `PROJECT_BUSY`. */
  ensure(project: ProjectId): Promise<ProjectView> {
    return this.exclusively(project, async () => {
      const repository = await ProjectRepository.init(this.pathOf(project));
      await this.rows.createQueryBuilder().insert().values({ project, createdAt: new Date() }).orIgnore().execute();
      return this.view(project, repository);
    });
  }

  /** Throws `PROJECT_UNKNOWN`. */
  async show(project: ProjectId): Promise<ProjectView> {
    return this.view(project, await this.open(project));
  }

  /** Throws `PROJECT_UNKNOWN`. */
  async open(project: ProjectId): Promise<ProjectRepository> {
    if (!(await this.rows.existsBy({ project }))) {
      throw publishError('PROJECT_UNKNOWN', `no project "${project}" is known`, { project });
    }
    return ProjectRepository.open(this.pathOf(project));
  }

  /** Runs work on one project when its turn comes. Throws `PROJECT_BUSY` at once when too much waits already. */
  async exclusively<T>(project: ProjectId, work: () => Promise<T>): Promise<T> {
    const before = this.admitted.get(project) ?? 0;
    if (before > MAX_WAITING) {
      throw publishError('PROJECT_BUSY', `${MAX_WAITING} commits of project "${project}" wait for their turn`, {
        project,
      });
    }
    this.admitted.set(project, before + 1);
    try {
      return await this.queue.run(project, work);
    } finally {
      const left = (this.admitted.get(project) ?? 1) - 1;
      if (left > 0) this.admitted.set(project, left);
      else this.admitted.delete(project);
    }
  }

  private async view(project: ProjectId, repository: ProjectRepository): Promise<ProjectView> {
    const [{ branch, commit }, row] = await Promise.all([repository.head(), this.rows.findOneByOrFail({ project })]);
    return { project, head: commit, defaultBranch: branch, createdAtMs: row.createdAt.getTime() };
  }

  private pathOf(project: ProjectId): string {
    return path.join(this.config.home, 'projects', `${parseId<ProjectId>(project, 'project')}.git`);
  }
}
