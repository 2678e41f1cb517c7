import { gitForgeError, repositoryMissing } from '@inquest/git-forge';
import type { DomainError } from '@inquest/kernel';
import { RepositoryAnswer, UserAnswer } from './gitea-answers';
import type { GiteaClient, GiteaRequest } from './gitea-client';
import { notGitea } from './gitea-failure';
import { parseAnswer } from './parse-answer';
import { readBack, type Patience } from './patience';

/** Under which names Gitea has the repository of a project now. */
export interface GiteaRepository {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
}

export interface RepositoryOptions {
  /** User or organization. */
  readonly owner: string;
  /** Of repositories that are made; those that exist stay as they are. */
  readonly isPrivate: boolean;
}

/** Repositories of one owner; a project's is named like it. */
export class GiteaRepositories {
  constructor(
    private readonly client: GiteaClient,
    private readonly options: RepositoryOptions,
    private readonly patience: Patience,
  ) {}

  /** Throws `FORGE_REPOSITORY_MISSING`, `FORGE_REPOSITORY_UNUSABLE` or what the client throws. */
  async get(project: string, signal: AbortSignal): Promise<GiteaRepository> {
    const found = await this.find(project, signal);
    if (found === null) throw repositoryMissing(project);
    return found;
  }

  /** Makes the repository unless it exists, and returns once it can be read. */
  async ensure(project: string, signal: AbortSignal): Promise<GiteaRepository> {
    const existing = await this.find(project, signal);
    if (existing !== null) return existing;
    const { status } = await this.client.request(await this.creation(this.wanted(project), [409], signal), signal);
    const made = await readBack(
      () => this.find(project, signal),
      (found) => found !== null,
      this.patience,
      signal,
    );
    if (made !== null) return made;
    if (status === 409) throw unusable(project, 'exists, but the user of the token cannot see it');
    const message = `Gitea made the repository of ${project}, but does not show it`;
    throw gitForgeError('FORGE_CHANGE_UNVERIFIED', message, { project });
  }

  /**
   * Asks for a repository without a name, which no Gitea makes: scopes are looked at before names, so this tells what the
   * token lacks. Throws what the client throws.
   */
  async checkMayCreate(signal: AbortSignal): Promise<void> {
    const { status } = await this.client.request(await this.creation({}, [422], signal), signal);
    if (status !== 422) throw notGitea('a repository without a name', `has the status ${status} instead of 422`);
  }

  private async find(project: string, signal: AbortSignal): Promise<GiteaRepository | null> {
    const path = ['repos', this.options.owner, project];
    const { status, body, isRedirected } = await this.client.request({ method: 'GET', path, accept: [404] }, signal);
    if (status === 404) return null;
    const repository = parseAnswer(RepositoryAnswer, body, `the question for the repository of ${project}`);
    const fault = this.faultOf(repository, project, isRedirected);
    if (fault !== null) throw unusable(project, fault);
    return { id: repository.id, owner: repository.owner.login, name: repository.name };
  }

  /** Why the repository is not one to publish the project to; null when it is. */
  private faultOf(found: RepositoryAnswer, project: string, isRedirected: boolean): string | null {
    const { owner, name, archived, mirror, permissions } = found;
    if (!isSameName(owner.login, this.options.owner))
      return `was moved to ${owner.login}, where nothing is published to`;
    // Gitea takes names that differ only in case for the same; projects are told apart by it.
    if (!isRedirected && name !== project) return `would be ${name}, which is the one of another project`;
    if (archived) return 'is archived';
    if (mirror) return 'is a mirror of another one';
    return permissions?.push === false ? 'may not be pushed to by the user of the token' : null;
  }

  /** A user's own repositories are made at another address than those of an organization. */
  private async creation(json: object, accept: readonly number[], signal: AbortSignal): Promise<GiteaRequest> {
    const { login } = await this.client.object(UserAnswer, { method: 'GET', path: ['user'] }, signal);
    const { owner } = this.options;
    const path = isSameName(login, owner) ? ['user', 'repos'] : ['orgs', owner, 'repos'];
    return { method: 'POST', path, json, accept };
  }

  private wanted(project: string): object {
    const description = `Published by Inquest from the project ${project}`;
    return { name: project, private: this.options.isPrivate, auto_init: false, default_branch: 'main', description };
  }
}

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const unusable = (project: string, why: string): DomainError =>
  gitForgeError('FORGE_REPOSITORY_UNUSABLE', `the repository of project ${project} ${why}`, { project });
