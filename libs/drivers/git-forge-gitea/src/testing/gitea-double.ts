import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { DoubleApi, type ApiCall, type ApiReply, type DoubleBehaviour } from './double-api';
import { DoubleRepositories, type DoubleRepository } from './double-repositories';
import { serveGit } from './git-http-backend';

/** A token of the double. `write:x` includes `read:x`. */
export interface DoubleToken {
  readonly user: string;
  readonly scopes: readonly string[];
}

/** What happens to the next requests whose `<method> <path>` matches, instead of or after what they ask for. */
export interface DoubleFault {
  readonly request: RegExp;
  /** Default 1. */
  times?: number;
  /** Answered instead; `cut`: the connection ends without an answer; `lose-answer`: it is done, and then the connection ends. */
  readonly reply: ApiReply | 'cut' | 'lose-answer';
}

export interface GiteaDoubleOptions {
  /** Directory for the repositories. */
  readonly root: string;
  readonly tokens: Readonly<Record<string, DoubleToken>>;
  /** `/git` serves everything below `/git/`. Default: none. */
  readonly subPath?: string;
  readonly organizations?: readonly string[];
  readonly behaviour?: Partial<DoubleBehaviour>;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const DEFAULT_BEHAVIOUR: DoubleBehaviour = {
  staleBranchReads: 0,
  hiddenRepositoryReads: 0,
  ignoredTopicWrites: 0,
  missingBranchStatus: 404,
  pageLength: 50,
  hasTotalCount: true,
};

/** A server that speaks the part of Gitea's API that publishing uses, and git over real smart HTTP. See its README. */
export class GiteaDouble {
  readonly repositories: DoubleRepositories;
  readonly behaviour: DoubleBehaviour;
  readonly faults: DoubleFault[] = [];
  /** `<method> <path>` of every request, in order. */
  readonly requests: string[] = [];
  /** Called with each of them before it is served; whoever asked waits until it is done. */
  onRequest: (request: string) => void | Promise<void> = () => undefined;
  private readonly api: DoubleApi;
  private readonly server: Server;

  private constructor(private readonly options: GiteaDoubleOptions) {
    this.repositories = new DoubleRepositories(options.root);
    this.behaviour = { ...DEFAULT_BEHAVIOUR, ...options.behaviour };
    this.api = new DoubleApi(this.repositories, this.behaviour);
    this.server = createServer((request, response) => {
      this.serve(request, response).catch(() => response.destroy());
    });
  }

  /** Listens on a free port of loopback. */
  static async start(options: GiteaDoubleOptions): Promise<GiteaDouble> {
    const double = new GiteaDouble(options);
    double.server.listen(0, '127.0.0.1');
    await once(double.server, 'listening');
    return double;
  }

  /** Base URL. */
  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${this.options.subPath ?? ''}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { subPath = '' } = this.options;
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://double.invalid');
    const label = `${request.method} ${pathname}`;
    this.requests.push(label);
    await this.onRequest(label);
    const fault = this.takeFault(label);
    if (fault === 'cut') return void request.destroy();
    if (fault !== null && fault !== 'lose-answer') return write(response, fault);
    if (!pathname.startsWith(`${subPath}/`)) return write(response, { status: 404 });
    const below = pathname.slice(subPath.length);
    if (!below.startsWith('/api/v1/')) return this.serveGit(request, response, below, search.slice(1), fault !== null);
    const reply = await this.answer(request, below, searchParams);
    if (fault === 'lose-answer') response.destroy();
    else write(response, reply);
  }

  private takeFault(label: string): DoubleFault['reply'] | null {
    const at = this.faults.findIndex(({ request }) => request.test(label));
    const fault = this.faults[at];
    if (fault === undefined) return null;
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) this.faults.splice(at, 1);
    return fault.reply;
  }

  private async answer(request: IncomingMessage, path: string, query: URLSearchParams): Promise<ApiReply> {
    const segments = path.slice('/api/v1/'.length).split('/').map(decodeURIComponent);
    if (segments.join('/') === 'version') return { status: 200, body: { version: '1.24.0+double' } };
    const given = /^token (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const token = given === undefined ? undefined : this.options.tokens[given];
    if (token === undefined) return { status: 401, body: { message: 'invalid username, password or token' } };
    const missing = missingScope(token, scopesFor(request.method ?? '', segments));
    if (missing !== null) {
      return { status: 403, body: { message: `token does not have at least one of required scope(s): [${missing}]` } };
    }
    const call = await readCall(request, token.user, query);
    return call === null
      ? { status: 422, body: { message: 'the body is no JSON object' } }
      : this.route(request.method ?? '', segments, call, path);
  }

  private async route(method: string, segments: readonly string[], call: ApiCall, path: string): Promise<ApiReply> {
    const [scope, ...rest] = segments;
    if (scope === 'user' && rest.length === 0) return { status: 200, body: { id: 1, login: call.user } };
    if (method === 'POST' && scope === 'user' && rest[0] === 'repos') return this.api.createRepository(call.user, call);
    if (method === 'POST' && scope === 'orgs' && rest[1] === 'repos') return this.createInOrganization(rest[0], call);
    if (scope !== 'repos') return { status: 404 };
    const [owner = '', name = '', ...within] = rest;
    const repository = this.repositories.get(owner, name);
    if (repository === null) return this.redirect(owner, name, path);
    return this.routeRepository(method, repository, within, call);
  }

  private async createInOrganization(organization: string | undefined, call: ApiCall): Promise<ApiReply> {
    // The shape is looked at before the organization, so a request without a name tells scopes only.
    if (call.json['name'] === undefined) return this.api.createRepository('', call);
    const known = this.options.organizations?.find((name) => name === organization);
    return known === undefined
      ? { status: 404, body: { message: 'GetOrgByName' } }
      : this.api.createRepository(known, call);
  }

  private redirect(owner: string, name: string, path: string): ApiReply {
    const target = this.repositories.renamedFrom(owner, name);
    if (target === null) return { status: 404, body: { message: "The target couldn't be found." } };
    const location = `${this.options.subPath ?? ''}${path.replace(`/${owner}/${name}`, `/${target.owner}/${target.name}`)}`;
    return { status: 307, headers: { location } };
  }

  private async routeRepository(
    method: string,
    repository: DoubleRepository,
    within: readonly string[],
    call: ApiCall,
  ): Promise<ApiReply> {
    const [part, id = '', below, assetId = ''] = within;
    const { api } = this;
    const refName = within.slice(1).join('/');
    switch (
      [method, part, id === '' ? '' : 'one', below].filter((word) => word !== undefined && word !== '').join(' ')
    ) {
      case 'GET':
        return api.getRepository(repository);
      case 'GET topics':
        return api.getTopics(repository);
      case 'PUT topics':
        return api.putTopics(repository, call);
      case 'GET pulls':
        return api.listPulls(repository, call);
      case 'POST pulls':
        return api.createPull(repository, call);
      case 'PATCH pulls one':
        return api.editPull(repository, id, call);
      case 'GET releases':
        return api.listReleases(repository, call);
      case 'POST releases':
        return api.createRelease(repository, call);
      case 'GET releases one':
        return api.getRelease(repository, id);
      case 'PATCH releases one':
        return api.editRelease(repository, id, call);
      case 'POST releases one assets':
        return api.addAsset(repository, id, call);
      case 'DELETE releases one assets':
        return api.deleteAsset(repository, id, assetId);
      default:
        if (method === 'GET' && part === 'branches') return api.getBranch(repository, refName);
        return method === 'GET' && part === 'tags' ? api.getTag(repository, refName) : { status: 405 };
    }
  }

  private async serveGit(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string,
    isAnswerLost: boolean,
  ): Promise<void> {
    const [, owner = '', name = ''] = /^\/([^/]+)\/([^/]+)\.git\//.exec(path) ?? [];
    const encoded = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const token = this.options.tokens[Buffer.from(encoded, 'base64').toString().split(':').slice(1).join(':')];
    if (token === undefined)
      return write(response, { status: 401, headers: { 'www-authenticate': 'Basic realm="Gitea"' } });
    const repository = this.repositories.get(owner, name);
    if (repository === null) return write(response, { status: 404 });
    const isPush = path.endsWith('/git-receive-pack') || query === 'service=git-receive-pack';
    const isAllowed = missingScope(token, [isPush ? 'write:repository' : 'read:repository']) === null;
    if (!isAllowed || (isPush && !repository.mayPush)) return write(response, { status: 403 });
    const pathInfo = path.replace(`/${owner}/${name}.git`, repository.gitDirectory.slice(this.options.root.length));
    await serveGit(request, response, {
      projectRoot: this.options.root,
      pathInfo,
      query,
      user: token.user,
      isAnswerLost,
    });
  }
}

/** Scopes of Gitea's routers/api/v1/api.go, as far as its routes are here. */
function scopesFor(method: string, [scope, second]: readonly string[]): readonly string[] {
  const level = method === 'GET' ? 'read' : 'write';
  if (scope === 'user') return second === 'repos' ? [`${level}:user`, `${level}:repository`] : [`${level}:user`];
  return scope === 'orgs' ? [`${level}:organization`, `${level}:repository`] : [`${level}:repository`];
}

const missingScope = ({ scopes }: DoubleToken, needed: readonly string[]): string | null =>
  needed.find((scope) => !scopes.includes(scope) && !scopes.includes(scope.replace('read:', 'write:'))) ?? null;

async function readCall(request: IncomingMessage, user: string, query: URLSearchParams): Promise<ApiCall | null> {
  const bytes = await buffer(request);
  const contentType = request.headers['content-type'] ?? '';
  if (bytes.length === 0 || contentType.startsWith('multipart/')) return { user, query, contentType, bytes, json: {} };
  if (bytes.length > MAX_BODY_BYTES || contentType !== 'application/json') return null;
  const json: unknown = JSON.parse(bytes.toString());
  return typeof json === 'object' && json !== null ? { user, query, contentType, bytes, json: { ...json } } : null;
}

function write(response: ServerResponse, { status, body, headers }: ApiReply): void {
  const isText = typeof body === 'string';
  response.writeHead(status, {
    ...(body === undefined ? {} : { 'content-type': isText ? 'text/html' : 'application/json;charset=utf-8' }),
    ...headers,
  });
  response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
}
