import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { TreeLimits } from '../collected-tree';
import { ProjectRepository, type CommitRequest, type CommitResult } from '../project-repository';
import type { ScratchFilter } from '../scratch-filter';
import { tarOf, type TarEntry } from './tar-archive';

export const ANA = { name: 'Ana', email: 'ana@example.org', atMs: 1_767_607_200_000 };
export const INQUEST = { name: 'Inquest', email: 'inquest@localhost', atMs: 1_767_607_260_000 };

const keepAll: ScratchFilter = () => () => null;

/** A project in a temporary directory, and one guest's commits to it. */
export class ProjectFixture {
  /** What the guest's next tree is a later state of. */
  base: string | null = null;

  private constructor(
    readonly root: string,
    readonly repository: ProjectRepository,
  ) {}

  static async make(): Promise<ProjectFixture> {
    const root = await mkdtemp(path.join(tmpdir(), 'work-tree-spec-'));
    return new ProjectFixture(root, await ProjectRepository.init(path.join(root, 'project.git')));
  }

  at(...parts: string[]): string {
    return path.join(this.root, ...parts);
  }

  /** Plain git, as a person would look at the repository. */
  git(...args: string[]): string {
    const options = [`--git-dir=${this.repository.path}`, '-c', 'core.quotePath=false'];
    return execFileSync('git', [...options, ...args], { encoding: 'utf8' }).trimEnd();
  }

  /** All paths of the last commit. */
  paths(): string[] {
    return this.git('ls-tree', '-r', '--name-only', '-z', 'HEAD').split('\0').filter(Boolean);
  }

  commit(
    entries: readonly TarEntry[],
    more: Partial<CommitRequest> = {},
    limits: Partial<TreeLimits> = {},
  ): Promise<CommitResult> {
    return this.commitTar(tarOf(entries), more, limits);
  }

  async commitTar(
    tar: Readable,
    more: Partial<CommitRequest> = {},
    limits: Partial<TreeLimits> = {},
  ): Promise<CommitResult> {
    const tree = await this.repository.collect(tar, limits);
    try {
      const identities = { author: ANA, committer: INQUEST };
      const request = { tree, base: this.base, message: 'work', filter: keepAll, ...identities, beginning: null };
      const result = await this.repository.commit({ ...request, ...more });
      if (more.base === undefined) this.base = result.base;
      return result;
    } finally {
      await tree.discard();
    }
  }

  async close(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
