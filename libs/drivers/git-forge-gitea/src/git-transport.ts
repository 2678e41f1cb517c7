import { gitForgeError } from '@inquest/git-forge';
import { delay, type DomainError } from '@inquest/kernel';
import { onlyWhenMissing, type GitResult, type HardenedGit } from '@inquest/work-tree';
import type { GiteaAddress } from './gitea-address';
import { delayMsAfter, type Patience } from './patience';
import { shownText, type TokenFile } from './token-file';

/** A branch of the forge, and where it shall be. */
export interface PushTarget {
  readonly branch: string;
  readonly commit: string;
}

/** How a push ended. */
export type PushOutcome =
  { readonly isDone: true } | { readonly isDone: false; readonly isTransient: boolean; readonly why: string };

const RESULT_EXIT_CODES = [0, 1, 128];
// Of git's http.c and remote-curl.c, and of curl: what a second try may get past.
const TRANSIENT =
  /returned error: (?:408|429|5\d\d)|HTTP (?:408|429|5\d\d)|Failed to connect|Could not resolve|Connection (?:reset|refused|timed out)|hung up unexpectedly|early EOF|RPC failed|Empty reply|transfer closed|Operation too slow/i;
// Less than this for this long is a server that is stuck; git has no deadline of its own.
const LOW_SPEED_BYTES_PER_SECOND = 100;
const LOW_SPEED_SECONDS = 30;

/**
 * Git over smart HTTP. Git gets the token from a credential helper that answers for the configured origin alone, and
 * follows no redirect: a renamed repository was found through the API before.
 */
export class GitTransport {
  constructor(
    private readonly address: GiteaAddress,
    private readonly tokenFile: TokenFile,
    private readonly patience: Patience,
  ) {}

  /** Where a branch of the forge is; null when there is none. Rejects with `FORGE_UNAVAILABLE` or a `FORGE_TOKEN_*` code. */
  async headOf(git: HardenedGit, url: string, branch: string, signal: AbortSignal): Promise<string | null> {
    const ref = `refs/heads/${branch}`;
    for (let attempt = 1; ; attempt++) {
      const { result, token } = await this.run(git, ['ls-remote', '--quiet', url, ref], signal);
      if (result.exitCode === 0) return headIn(result.stdout.toString('utf8'), ref);
      const outcome = failureOf(result, token);
      if (!outcome.isTransient || attempt >= this.patience.attempts) throw unavailable(outcome.why);
      await delay(delayMsAfter(attempt, this.patience), signal);
    }
  }

  /** Moves a branch forward, or not at all. Rejects with `FORGE_TOKEN_REJECTED`; a refusal is an outcome. */
  push(git: HardenedGit, url: string, target: PushTarget, signal: AbortSignal): Promise<PushOutcome> {
    return this.send(git, url, target, [], signal);
  }

  /** Makes a branch that is not there, and touches none that is. Rejects with `FORGE_TOKEN_REJECTED`; a refusal is an outcome. */
  make(git: HardenedGit, url: string, target: PushTarget, signal: AbortSignal): Promise<PushOutcome> {
    return this.send(git, url, target, onlyWhenMissing(target.branch), signal);
  }

  private async send(
    git: HardenedGit,
    url: string,
    { commit, branch }: PushTarget,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<PushOutcome> {
    const refspec = `${commit}:refs/heads/${branch}`; // without a leading +, git moves a branch only forward
    const args = ['push', '--porcelain', '--no-verify', ...options, url, refspec];
    const { result, token } = await this.run(git, args, signal);
    return result.exitCode === 0 ? { isDone: true } : failureOf(result, token);
  }

  /** The result, and the token that was in the file: git's words may hold it and are only shown without it. */
  private async run(
    git: HardenedGit,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly result: GitResult; readonly token: string }> {
    const token = await this.tokenFile.read();
    const settings = {
      // After the empty helper of the hardened settings, which clears the host's.
      [`credential.${this.address.origin}.helper`]: this.tokenFile.credentialHelper,
      'http.followRedirects': 'false',
      'http.lowSpeedLimit': String(LOW_SPEED_BYTES_PER_SECOND),
      'http.lowSpeedTime': String(LOW_SPEED_SECONDS),
    };
    const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    return { result: await git.run([...options, ...args], { signal, acceptExitCodes: RESULT_EXIT_CODES }), token };
  }
}

function failureOf({ stdout, stderr }: GitResult, token: string): PushOutcome & { readonly isDone: false } {
  const said = [stdout.toString('utf8'), stderr].join('\n').slice(-4_000);
  const why = shownText(said, token);
  if (said.includes('Authentication failed')) {
    throw gitForgeError('FORGE_TOKEN_REJECTED', `Gitea does not take the token for git: ${why}`);
  }
  return { isDone: false, isTransient: TRANSIENT.test(said), why };
}

const unavailable = (why: string): DomainError =>
  gitForgeError('FORGE_UNAVAILABLE', `the branches of the repository could not be listed: ${why}`);

/** Of lines `<id>\t<ref>`; git lists every ref that ends like the one that was asked for. */
function headIn(listing: string, ref: string): string | null {
  const lines = listing.split('\n').map((line) => line.split('\t'));
  const id = lines.find(([, name]) => name === ref)?.[0];
  return id !== undefined && /^[0-9a-f]{40}$/.test(id) ? id : null;
}
