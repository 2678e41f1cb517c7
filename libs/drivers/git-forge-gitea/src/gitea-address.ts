import { gitForgeError } from '@inquest/git-forge';

/** Where a Gitea answers. Its own answers never decide a host or a path: every address is made here. */
export class GiteaAddress {
  private constructor(
    /** Without a slash at the end. */
    readonly href: string,
    /** Scheme, host and port. */
    readonly origin: string,
  ) {}

  /**
   * Reads a base URL, with a sub-path when Gitea is served below one. Throws `FORGE_ADDRESS_INVALID` for anything but
   * https, unless `allowHttp` or the host is this one: over http the token could be read on the way.
   */
  static parse(text: string, { allowHttp }: { readonly allowHttp: boolean }): GiteaAddress {
    const fault = addressFault(text, allowHttp);
    if (fault !== null) throw gitForgeError('FORGE_ADDRESS_INVALID', `the URL of Gitea ${fault}`);
    const { origin, pathname } = new URL(text);
    return new GiteaAddress(`${origin}${pathname.replace(/\/+$/, '')}`, origin);
  }

  /** Of the API, from path segments that may hold anything. */
  api(segments: readonly string[], query: Readonly<Record<string, string | number>> = {}): URL {
    const url = new URL(`${this.href}/api/v1/${segments.map(encodeURIComponent).join('/')}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
    return url;
  }

  /** For people. */
  page(...segments: readonly string[]): string {
    return [this.href, ...segments.map(encodeURIComponent)].join('/');
  }

  /** For git. */
  clone(owner: string, name: string): string {
    return `${this.page(owner, name)}.git`;
  }

  /** The target of a redirect within the repositories of this API; null for one that leads anywhere else. */
  redirectTarget(from: URL, location: string | null): URL | null {
    if (location === null || !URL.canParse(location, from.href)) return null;
    const target = new URL(location, from);
    const isOurs = target.origin === this.origin && target.username === '' && target.password === '';
    return isOurs && target.href.startsWith(`${this.href}/api/v1/repos/`) ? target : null;
  }
}

/** What is wrong with a base URL, in words that follow "the URL"; null when nothing is. */
export function addressFault(text: string, allowHttp: boolean): string | null {
  if (!URL.canParse(text)) return 'is no URL';
  const { protocol, username, password, search, hash, hostname } = new URL(text);
  if (username !== '' || password !== '') return 'has credentials in it; the token belongs into its file';
  if (search !== '' || hash !== '' || text.includes('?') || text.includes('#')) return 'has a query or a fragment';
  if (protocol === 'https:') return null;
  if (protocol !== 'http:') return 'is neither https nor http';
  return allowHttp || isLoopback(hostname) ? null : 'is http to another host, which shows the token to the network';
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
