import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { openCommand } from '@inquest/process';

/** What a git request is about. */
export interface GitCall {
  /** Directory below which the repositories are. */
  readonly projectRoot: string;
  /** `/<owner>/<name>.git/info/refs` and the like. */
  readonly pathInfo: string;
  readonly query: string;
  /** Whom the server took the caller for. */
  readonly user: string;
  /** Does everything, and then ends the connection without an answer. */
  readonly isAnswerLost?: boolean;
}

const TIMEOUT_MS = 120_000;
const MAX_HEADER_BYTES = 16_384;
const HEADER_END = '\r\n\r\n';

/** Serves one smart HTTP request by git's own CGI program, git-http-backend(1); RFC 3875 has the variables. */
export async function serveGit(request: IncomingMessage, response: ServerResponse, call: GitCall): Promise<void> {
  const command = await openCommand('git', ['http-backend'], {
    timeoutMs: TIMEOUT_MS,
    env: {
      GIT_PROJECT_ROOT: call.projectRoot,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      PATH_INFO: call.pathInfo,
      QUERY_STRING: call.query,
      REMOTE_USER: call.user,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...optional('CONTENT_LENGTH', request.headers['content-length']),
      ...optional('HTTP_CONTENT_ENCODING', request.headers['content-encoding']),
      ...optional('GIT_PROTOCOL', request.headers['git-protocol']),
    },
  });
  // git-http-backend may answer, and end, before it has read everything.
  const feeding = pipeline(request, command.stdin).catch(() => undefined);
  if (call.isAnswerLost === true) {
    for await (const _chunk of command.stdout); // read, so that git can end
    response.destroy();
  } else await writeCgiAnswer(command.stdout, response);
  await feeding;
  await command.finished.catch(() => undefined);
}

async function writeCgiAnswer(stdout: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of stdout) {
    if (head === null) {
      response.write(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(HEADER_END);
    if (end < 0 && head.length <= MAX_HEADER_BYTES) continue;
    writeCgiHead(head.subarray(0, Math.max(end, 0)).toString('latin1'), response);
    response.write(head.subarray(end + HEADER_END.length));
    head = null;
  }
  if (head !== null) response.writeHead(500);
  response.end();
}

function writeCgiHead(head: string, response: ServerResponse): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [name = '', ...rest] = line.split(': ');
    if (name === 'Status') status = Number.parseInt(rest.join(': '), 10);
    else if (name !== '') response.setHeader(name, rest.join(': '));
  }
  response.writeHead(status);
}

const optional = (name: string, value: string | readonly string[] | undefined): Readonly<Record<string, string>> =>
  value === undefined ? {} : { [name]: String(value) };
