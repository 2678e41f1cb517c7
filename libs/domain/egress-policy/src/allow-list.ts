import { egressError } from './errors';
import { labelCount, parseHostName } from './host-name';

const WILDCARD = '*.';

/** `*.com` would be no list any more; `localhost` is no host of the internet. */
const MIN_LABELS = 2;

/** Entries of one list. */
export const ALLOW_LIST_MAX_ENTRIES = 64;

/** The hosts that a machine may reach: exact names, and `*.suffix` for every name below a suffix (not the suffix itself). */
export class AllowList {
  private readonly names: ReadonlySet<string>;
  private readonly suffixes: readonly string[];

  private constructor(
    /** In lower case, in the order given. */
    readonly entries: readonly string[],
  ) {
    this.names = new Set(entries.filter((entry) => !entry.startsWith(WILDCARD)));
    this.suffixes = entries.filter((entry) => entry.startsWith(WILDCARD)).map((entry) => entry.slice(1));
  }

  /** Throws `EGRESS_ENTRY_INVALID` for the first entry that is none, or when there are more than `ALLOW_LIST_MAX_ENTRIES`. */
  static parse(entries: readonly string[]): AllowList {
    if (entries.length > ALLOW_LIST_MAX_ENTRIES) {
      throw egressError(
        'EGRESS_ENTRY_INVALID',
        `an allow-list has at most ${ALLOW_LIST_MAX_ENTRIES} entries, not ${entries.length}`,
      );
    }
    return new AllowList(entries.map(parseEntry));
  }

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  /** Whether `host`, in lower case, is on the list. */
  allows(host: string): boolean {
    return this.names.has(host) || this.suffixes.some((suffix) => host.length > suffix.length && host.endsWith(suffix));
  }
}

function parseEntry(entry: string): string {
  const isWildcard = entry.startsWith(WILDCARD);
  const name = parseHostName(isWildcard ? entry.slice(WILDCARD.length) : entry);
  if (name === null || labelCount(name) < MIN_LABELS) {
    const shown = JSON.stringify(entry.slice(0, 120));
    throw egressError('EGRESS_ENTRY_INVALID', `${shown} is no host name and no wildcard such as *.example.org`);
  }
  return isWildcard ? `${WILDCARD}${name}` : name;
}
