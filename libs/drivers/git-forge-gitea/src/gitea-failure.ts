import { gitForgeError } from '@inquest/git-forge';
import type { DomainError } from '@inquest/kernel';

/** A request that Gitea did not do, with its words. Nothing of it names the token. */
export interface Refusal {
  readonly status: number;
  /** Fit for people. */
  readonly message: string;
  /** `POST /user/repos` */
  readonly request: string;
}

// Gitea 1.19 to 1.23: "token does not have at least one of required scope(s): [write:user]";
// later: "..., required=[write:user], token scope=read:repository".
const REQUIRED_SCOPES = /required(?: scope\(s\))?(?:=|: )\[([a-z:, ]+)\]/;

/** Statuses after which the same request may succeed: too many requests, and every failure of the server itself. */
export const isTransientStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The error that says what a status means at Gitea, whose 403 and 404 have several meanings. */
export function refusalError({ status, message, request }: Refusal): DomainError {
  const said = `Gitea answered ${request} with ${status}${message === '' ? '' : `: ${message}`}`;
  if (status === 401) return gitForgeError('FORGE_TOKEN_REJECTED', said, { status });
  if (status === 403 && message.includes('scope')) {
    const scope = REQUIRED_SCOPES.exec(message)?.[1] ?? 'unknown';
    return gitForgeError('FORGE_SCOPE_MISSING', `the token lacks the scope ${scope}: ${said}`, { status, scope });
  }
  if (isTransientStatus(status)) return gitForgeError('FORGE_UNAVAILABLE', said, { status });
  if (status === 423)
    return gitForgeError('FORGE_REPOSITORY_UNUSABLE', `the repository is archived: ${said}`, { status });
  return gitForgeError('FORGE_REQUEST_REFUSED', said, { status });
}

/** `FORGE_RESPONSE_INVALID`: what answers does not speak Gitea's API. */
export const notGitea = (request: string, why: string, cause?: unknown): DomainError =>
  gitForgeError('FORGE_RESPONSE_INVALID', `the answer to ${request} ${why}`, { request }, cause);
