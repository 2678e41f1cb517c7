import { cliError } from '../errors';

/** `tiny` or `tiny:3`. What is not a number is left to the platform to refuse. */
export function nameAndVersion(spec: string): [name: string, version: number | null] {
  const match = /^(.*):(\d+)$/.exec(spec);
  return match ? [match[1] ?? spec, Number(match[2])] : [spec, null];
}

/** `tiny:3`. Throws `CLI_USAGE_INVALID` when no version is named. */
export function namedVersion(spec: string): [name: string, version: number] {
  const [name, version] = nameAndVersion(spec);
  if (version !== null) return [name, version];
  throw cliError('CLI_USAGE_INVALID', `"${spec}" names no version; write it like ${spec}:3`);
}

/** The path of an image below the gateway. */
export const imagePath = (name: string): string => `/v1/images/${encodeURIComponent(name)}`;
