import { cliError } from '../errors';

/** One side of a copy: `machine:/path`, or a path on this host. */
export interface Place {
  readonly machine: string | null;
  readonly path: string;
}

/**
 * A colon makes it a machine, unless a slash comes first: `./a:b` is a file. Throws `CLI_USAGE_INVALID` when the path
 * in a machine is not absolute.
 */
export function parsePlace(spec: string): Place {
  const match = /^([A-Za-z0-9_-]{1,64}):(.*)$/s.exec(spec);
  if (!match) return { machine: null, path: spec };
  const [, machine = '', path = ''] = match;
  if (path.startsWith('/')) return { machine, path };
  throw cliError('CLI_USAGE_INVALID', `the path in "${spec}" must be absolute; a file of that name is ./${spec}`);
}
