import { gitForgeError, type ForgeRelease, type ReleaseArtifact, type ReleaseRequest } from '@inquest/git-forge';
import type { GiteaAddress } from './gitea-address';
import { AttachmentAnswer, ReleaseAnswer, TagAnswer } from './gitea-answers';
import type { GiteaClient } from './gitea-client';
import type { GiteaRepository } from './gitea-repositories';
import { uploadBody } from './multipart';
import { parseAnswer } from './parse-answer';
import { readBack, type Patience } from './patience';

/** Releases with files. A release is a draft, which only writers see, until it is whole. */
export class GiteaReleases {
  constructor(
    private readonly client: GiteaClient,
    private readonly address: GiteaAddress,
    private readonly patience: Patience,
  ) {}

  async publish(repository: GiteaRepository, request: ReleaseRequest, signal: AbortSignal): Promise<ForgeRelease> {
    const path = ['repos', repository.owner, repository.name];
    const { project, tag, commit } = request;
    const taggedBefore = await this.commitOf(path, tag, signal);
    if (taggedBefore !== null && taggedBefore !== commit) throw tagTaken(request, taggedBefore);
    const release = (await this.find(path, tag, signal)) ?? (await this.draft(path, request, signal));
    if (release.draft && release.target_commitish !== commit) throw tagTaken(request, release.target_commitish);
    for (const artifact of request.artifacts) await this.attach(path, release, artifact, signal);
    await this.unveil(path, release, request, signal);
    if (!(await this.isVisible(path, release, request, signal))) {
      const message = `release ${tag} of ${project} was made, but does not read back with its tag and artifacts`;
      throw gitForgeError('FORGE_CHANGE_UNVERIFIED', message, { project, tag });
    }
    const url = this.address.page(repository.owner, repository.name, 'releases', 'tag', tag);
    return { tag, commit, url, verified: true };
  }

  /** The commit of a tag; null when there is no such tag. */
  private async commitOf(path: readonly string[], tag: string, signal: AbortSignal): Promise<string | null> {
    const request = { method: 'GET', path: [...path, 'tags', ...tag.split('/')] } as const;
    return (await this.client.find(TagAnswer, request, signal))?.commit.sha ?? null;
  }

  /** Drafts are only in the list, not under their tag. */
  private async find(path: readonly string[], tag: string, signal: AbortSignal): Promise<ReleaseAnswer | null> {
    const releases = await this.client.list(ReleaseAnswer, { path: [...path, 'releases'] }, signal);
    return releases.find(({ tag_name }) => tag_name === tag) ?? null;
  }

  private async draft(path: readonly string[], request: ReleaseRequest, signal: AbortSignal): Promise<ReleaseAnswer> {
    const { tag, commit, title, notes } = request;
    const json = { tag_name: tag, target_commitish: commit, name: title, body: notes, draft: true };
    const answer = await this.client.request(
      { method: 'POST', path: [...path, 'releases'], json, accept: [409] },
      signal,
    );
    if (answer.status !== 409) return parseAnswer(ReleaseAnswer, answer.body, 'the creation of a release');
    const found = await this.find(path, tag, signal);
    if (found === null) throw tagTaken(request, 'a release that is not shown');
    return found;
  }

  /** Uploads unless it is there; what a cut upload left under its name is replaced. */
  private async attach(
    path: readonly string[],
    { id, assets }: ReleaseAnswer,
    artifact: ReleaseArtifact,
    signal: AbortSignal,
  ): Promise<void> {
    const assetsPath = [...path, 'releases', String(id), 'assets'];
    const sameName = assets.filter(({ name }) => name === artifact.name);
    if (sameName.length === 1 && sameName[0]?.size === artifact.sizeBytes) return;
    for (const stale of sameName) {
      const stalePath = [...assetsPath, String(stale.id)];
      await this.client.request({ method: 'DELETE', path: stalePath, accept: [404] }, signal);
    }
    const upload = await uploadBody(artifact);
    await this.client.object(
      AttachmentAnswer,
      { method: 'POST', path: assetsPath, query: { name: artifact.name }, upload },
      signal,
    );
  }

  private async unveil(
    path: readonly string[],
    { id }: ReleaseAnswer,
    { title, notes }: ReleaseRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const json = { draft: false, name: title, body: notes };
    await this.client.request({ method: 'PATCH', path: [...path, 'releases', String(id)], json }, signal);
  }

  private isVisible(
    path: readonly string[],
    { id }: ReleaseAnswer,
    { tag, commit, artifacts }: ReleaseRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    const read = async (): Promise<boolean> => {
      const request = { method: 'GET', path: [...path, 'releases', String(id)] } as const;
      const found = await this.client.find(ReleaseAnswer, request, signal);
      if (found === null || found.draft || (await this.commitOf(path, tag, signal)) !== commit) return false;
      return artifacts.every((wanted) => hasArtifact(found, wanted));
    };
    return readBack(read, (isSeen) => isSeen, this.patience, signal);
  }
}

const hasArtifact = ({ assets }: ReleaseAnswer, { name, sizeBytes }: ReleaseArtifact): boolean =>
  assets.some((asset) => asset.name === name && asset.size === sizeBytes);

const tagTaken = ({ project, tag, commit }: ReleaseRequest, found: string) =>
  gitForgeError('FORGE_TAG_TAKEN', `tag ${tag} of ${project} is at ${found}, not at ${commit}; it was left alone`, {
    project,
    tag,
    commit,
  });
