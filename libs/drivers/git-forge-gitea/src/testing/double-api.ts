import type {
  Attachment,
  Branch,
  CreatePullRequestOption,
  CreateReleaseOption,
  CreateRepoOption,
  PullRequest,
  Release,
  Tag,
} from 'gitea-js';
import {
  commitOfRef,
  makeTag,
  repositoryJson,
  type DoubleRepositories,
  type DoubleRepository,
} from './double-repositories';

/** An answer of the API. */
export interface ApiReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One API request, after the token and its scopes were checked. */
export interface ApiCall {
  readonly user: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly json: Readonly<Record<string, unknown>>;
}

/** How the double differs from a Gitea at its best. All of it was seen on real servers. */
export interface DoubleBehaviour {
  /** Reads of a branch, after a push, for which the API still shows what was before. */
  staleBranchReads: number;
  /** Reads of a repository, after its creation, that are answered with 404. */
  hiddenRepositoryReads: number;
  /** Changes of topics that are accepted and have no effect. */
  ignoredTopicWrites: number;
  /** What a missing branch is answered with. */
  missingBranchStatus: 400 | 404 | 409 | 500;
  /** MAX_RESPONSE_ITEMS: no page is longer, whatever is asked for. */
  pageLength: number;
  /** Whether lists say how long they are. */
  hasTotalCount: boolean;
}

const MAX_NAME_LENGTH = 100;
const notFound: ApiReply = { status: 404, body: { message: "The target couldn't be found.", url: '/api/swagger' } };
const invalid = (message: string): ApiReply => ({ status: 422, body: { message, url: '/api/swagger' } });
const conflict = (message: string): ApiReply => ({ status: 409, body: { message, url: '/api/swagger' } });
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The part of Gitea's API that publishing uses. */
export class DoubleApi {
  private lastId = 0;

  constructor(
    private readonly repositories: DoubleRepositories,
    private readonly behaviour: DoubleBehaviour,
  ) {}

  async createRepository(owner: string, { json }: ApiCall): Promise<ApiReply> {
    const wanted = json as Partial<CreateRepoOption>;
    const name = text(wanted.name);
    if (name === '') return invalid('[Name]: Required');
    if (!/^[A-Za-z0-9_.-]+$/.test(name) || name.length > MAX_NAME_LENGTH) return invalid('[Name]: AlphaDashDot');
    if (name === '-' || name.endsWith('.git')) return invalid(`name is reserved [name: ${name}]`);
    if (this.repositories.get(owner, name)) return conflict('The repository with the same name already exists.');
    const repository = await this.repositories.create(owner, name, {
      isPrivate: wanted.private ?? false,
      hiddenReads: this.behaviour.hiddenRepositoryReads,
    });
    return { status: 201, body: repositoryJson(repository) };
  }

  getRepository(repository: DoubleRepository): ApiReply {
    if (repository.hiddenReads > 0) {
      repository.hiddenReads--;
      return notFound;
    }
    return { status: 200, body: repositoryJson(repository) };
  }

  async getBranch(repository: DoubleRepository, branch: string): Promise<ApiReply> {
    const actual = await commitOfRef(repository, `refs/heads/${branch}`);
    const known = repository.shown.get(branch) ?? { commit: null, staleReads: this.behaviour.staleBranchReads };
    if (known.commit !== actual) {
      if (known.staleReads > 0) known.staleReads--;
      else Object.assign(known, { commit: actual, staleReads: this.behaviour.staleBranchReads });
      repository.shown.set(branch, known);
    }
    if (known.commit === null) return { ...notFound, status: this.behaviour.missingBranchStatus };
    const body: Branch = { name: branch, commit: { id: known.commit, message: '' }, protected: false };
    return { status: 200, body };
  }

  async getTag(repository: DoubleRepository, tag: string): Promise<ApiReply> {
    const commit = await commitOfRef(repository, `refs/tags/${tag}`);
    if (commit === null) return notFound;
    const body: Tag = { name: tag, id: commit, commit: { sha: commit } };
    return { status: 200, body };
  }

  async listPulls(repository: DoubleRepository, { query }: ApiCall): Promise<ApiReply> {
    const state = query.get('state') ?? 'open';
    const asked = repository.pulls.filter((pull) => state === 'all' || pull.state === state);
    const shown = await Promise.all(asked.map((pull) => shownPull(repository, pull)));
    return this.page(query.get('sort') === 'recentupdate' ? shown.reverse() : shown, query);
  }

  async createPull(repository: DoubleRepository, { json }: ApiCall): Promise<ApiReply> {
    const wanted = json as Partial<CreatePullRequestOption>;
    const [head, base, title] = [text(wanted.head), text(wanted.base), text(wanted.title)];
    if (head === base) return invalid('Invalid PullRequest: There are no changes between the head and the base');
    for (const branch of [head, base]) if (!(await commitOfRef(repository, `refs/heads/${branch}`))) return notFound;
    const { pulls, id: repo_id } = repository;
    const isOpen = pulls.some((one) => one.state === 'open' && one.head?.ref === head && one.base?.ref === base);
    if (isOpen) return conflict('pull request already exists for these targets');
    const pull: PullRequest = {
      id: ++this.lastId,
      number: pulls.length + 1,
      state: 'open',
      merged: false,
      title,
      body: text(wanted.body),
      head: { ref: head, label: head, repo_id },
      base: { ref: base, label: base, repo_id },
    };
    pulls.push(pull);
    return { status: 201, body: pull };
  }

  editPull({ pulls }: DoubleRepository, number: string, { json }: ApiCall): ApiReply {
    const pull = pulls.find((one) => String(one.number) === number);
    if (pull === undefined) return notFound;
    if (typeof json['title'] === 'string' && json['title'] !== '') pull.title = json['title'];
    if (typeof json['body'] === 'string') pull.body = json['body'];
    return { status: 201, body: pull }; // not 200, which its document says too
  }

  listReleases({ releases }: DoubleRepository, { query }: ApiCall): ApiReply {
    return this.page(releases, query);
  }

  getRelease({ releases }: DoubleRepository, id: string): ApiReply {
    const release = releases.find((one) => String(one.id) === id);
    return release === undefined ? notFound : { status: 200, body: release };
  }

  async createRelease(repository: DoubleRepository, { json }: ApiCall): Promise<ApiReply> {
    const wanted = json as Partial<CreateReleaseOption>;
    const tag = text(wanted.tag_name);
    if (tag === '') return invalid('[TagName]: Required');
    if ((await commitOfRef(repository, 'refs/heads/')) === null) return invalid('repo is empty');
    if (repository.releases.some((one) => one.tag_name === tag)) return conflict('Release is has no Tag');
    const release: Release = {
      id: ++this.lastId,
      tag_name: tag,
      target_commitish: text(wanted.target_commitish) || 'main',
      name: text(wanted.name),
      body: text(wanted.body),
      draft: wanted.draft ?? false,
      assets: [],
    };
    if (!(await tagIfPublished(repository, release))) return notFound;
    repository.releases.push(release);
    return { status: 201, body: release };
  }

  async editRelease(repository: DoubleRepository, id: string, { json }: ApiCall): Promise<ApiReply> {
    const release = repository.releases.find((one) => String(one.id) === id);
    if (release === undefined) return notFound;
    if (typeof json['name'] === 'string' && json['name'] !== '') release.name = json['name'];
    if (typeof json['body'] === 'string' && json['body'] !== '') release.body = json['body'];
    if (typeof json['draft'] === 'boolean') release.draft = json['draft'];
    return (await tagIfPublished(repository, release)) ? { status: 200, body: release } : notFound;
  }

  async addAsset({ releases }: DoubleRepository, id: string, call: ApiCall): Promise<ApiReply> {
    const release = releases.find((one) => String(one.id) === id);
    if (release === undefined) return notFound;
    const file = await uploadedFile(call);
    if (file === null) return { status: 400, body: { message: 'http: no such file', url: '/api/swagger' } };
    const asset: Attachment = { id: ++this.lastId, name: call.query.get('name') ?? file.name, size: file.size };
    release.assets?.push(asset); // Gitea takes a second one of the same name
    return { status: 201, body: asset };
  }

  deleteAsset({ releases }: DoubleRepository, id: string, assetId: string): ApiReply {
    const release = releases.find((one) => String(one.id) === id);
    const at = release?.assets?.findIndex((asset) => String(asset.id) === assetId) ?? -1;
    if (at < 0) return notFound;
    release?.assets?.splice(at, 1);
    return { status: 204 };
  }

  getTopics({ topics }: DoubleRepository): ApiReply {
    return { status: 200, body: { topics } };
  }

  putTopics(repository: DoubleRepository, { json }: ApiCall): ApiReply {
    const topics = Array.isArray(json['topics']) ? json['topics'].map(text) : [];
    const invalidTopics = topics.filter((topic) => !/^[a-z0-9][-.a-z0-9]{0,34}$/.test(topic));
    if (invalidTopics.length > 0) return { status: 422, body: { invalidTopics, message: 'Topic names are invalid' } };
    if (this.behaviour.ignoredTopicWrites > 0) this.behaviour.ignoredTopicWrites--;
    else repository.topics = topics;
    return { status: 204 };
  }

  private page(items: readonly object[], query: URLSearchParams): ApiReply {
    const length = Math.min(Number(query.get('limit') ?? this.behaviour.pageLength), this.behaviour.pageLength);
    const start = (Number(query.get('page') ?? 1) - 1) * length;
    const headers = this.behaviour.hasTotalCount ? { 'x-total-count': String(items.length) } : undefined;
    const link = { link: '<https://wrong-root-url.invalid/api/v1/next?page=2>; rel="next"' };
    return { status: 200, body: items.slice(start, start + length), headers: { ...link, ...headers } };
  }
}

/** Once its branch is deleted, a pull request names a ref of its own. */
async function shownPull(repository: DoubleRepository, pull: PullRequest): Promise<PullRequest> {
  const branch = pull.head?.label ?? '';
  if ((await commitOfRef(repository, `refs/heads/${branch}`)) !== null) return pull;
  return { ...pull, head: { ...pull.head, ref: `refs/pull/${pull.number}/head` } };
}

/** Gitea makes the tag when a release stops being a draft. False: its target does not exist. */
async function tagIfPublished(repository: DoubleRepository, release: Release): Promise<boolean> {
  const tag = release.tag_name ?? '';
  if (release.draft === true || (await commitOfRef(repository, `refs/tags/${tag}`)) !== null) return true;
  return makeTag(repository, tag, release.target_commitish ?? '');
}

/** The file of a whole `multipart/form-data` body; null when there is none. */
async function uploadedFile({ bytes, contentType }: ApiCall): Promise<File | null> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => null);
  const attachment = form?.get('attachment') ?? null;
  return attachment === null || typeof attachment === 'string' ? null : attachment;
}
