import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { publishError, type ProjectView } from '@inquest/contracts-publish';
import { KeyedQueue, parseId, type ProjectId } from '@inquest/kernel';
import { ProjectRepository } from '@inquest/work-tree';
import { PublishServiceConfig } from '../publish-service.config';
import { ProjectEntity } from './project.entity';

/** Host-side repositories of projects. Work on one project goes one at a time. */
@Injectable()
export class ProjectsService {
  private readonly rows: Repository<ProjectEntity>;
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly config: PublishServiceConfig,
    database: DataSource,
  ) {
    this.rows = database.getRepository(ProjectEntity);
  }

  /** Makes the project unless it is there. */
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

  exclusively<T>(project: ProjectId, work: () => Promise<T>): Promise<T> {
    return this.queue.run(project, work);
  }

  private async view(project: ProjectId, repository: ProjectRepository): Promise<ProjectView> {
    const [{ branch, commit }, row] = await Promise.all([repository.head(), this.rows.findOneByOrFail({ project })]);
    return { project, head: commit, defaultBranch: branch, createdAtMs: row.createdAt.getTime() };
  }

  private pathOf(project: ProjectId): string {
    return path.join(this.config.home, 'projects', `${parseId<ProjectId>(project, 'project')}.git`);
  }
}
