import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { publishError, type ReleaseView } from '@inquest/contracts-publish';
import { checkRelease, type ReleaseArtifact, type ReleaseRequest } from '@inquest/git-forge';
import type { CommittedFile, ProjectRepository } from '@inquest/work-tree';

/** A commit of a project that is released. */
export interface ReleasedCommit {
  readonly project: string;
  readonly commit: string;
}

/**
 * Checks a release before it is promised. Throws `RELEASE_ARTIFACT_UNKNOWN` and what every forge refuses
 * (`FORGE_REQUEST_INVALID`, `FORGE_BRANCH_INVALID`).
 */
export async function checkArtifacts(
  repository: ProjectRepository,
  commit: ReleasedCommit,
  release: ReleaseView,
  signal: AbortSignal,
): Promise<void> {
  const files = await findArtifacts(repository, commit, release, signal);
  const artifacts = files.map((file) => ({ ...nameAndSize(file), filePath: '' }));
  checkRelease(releaseRequest(commit, release, artifacts));
}

/**
 * Lets `work` have the release with its artifacts as files of this host, which are gone afterwards. Throws
 * `RELEASE_ARTIFACT_UNKNOWN`, what git and the file system throw, and what `work` throws.
 */
export async function withArtifacts<T>(
  repository: ProjectRepository,
  commit: ReleasedCommit,
  release: ReleaseView,
  signal: AbortSignal,
  work: (request: ReleaseRequest) => Promise<T>,
): Promise<T> {
  const files = await findArtifacts(repository, commit, release, signal);
  const directory = await mkdtemp(path.join(tmpdir(), 'inquest-release-'));
  try {
    const artifacts: ReleaseArtifact[] = [];
    for (const [index, file] of files.entries()) {
      // Numbered: no name of a guest becomes a name on this host.
      const filePath = path.join(directory, String(index));
      await repository.copyFile(file, filePath, signal);
      artifacts.push({ ...nameAndSize(file), filePath });
    }
    return await work(releaseRequest(commit, release, artifacts));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function findArtifacts(
  repository: ProjectRepository,
  { project, commit }: ReleasedCommit,
  { artifacts }: ReleaseView,
  signal: AbortSignal,
): Promise<CommittedFile[]> {
  const found = await repository.findFiles(commit, artifacts, signal);
  return found.map((file, index) => {
    if (file !== null) return file;
    const message = `commit ${commit.slice(0, 12)} of project "${project}" has no file ${JSON.stringify(artifacts[index])}`;
    throw publishError('RELEASE_ARTIFACT_UNKNOWN', message, { project, commit });
  });
}

const nameAndSize = ({ path: name, sizeBytes }: CommittedFile): Pick<ReleaseArtifact, 'name' | 'sizeBytes'> => ({
  name: path.posix.basename(name),
  sizeBytes,
});

const releaseRequest = (
  { project, commit }: ReleasedCommit,
  { tag, title, notes }: ReleaseView,
  artifacts: readonly ReleaseArtifact[],
): ReleaseRequest => ({ project, commit, tag, title: title === '' ? tag : title, notes, artifacts });
