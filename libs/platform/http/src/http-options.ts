/** How the REST API of a service is guarded. */
export interface HttpOptions {
  /** SHA-256 (lower-case hex) of each accepted bearer token; none accepts nobody. */
  readonly tokenSha256: readonly string[];
  /** At least 32 characters; the same for all services that hand out URLs of one another. */
  readonly urlSigningKey: string;
  /** Host names, besides those of loopback, under which the API may be addressed. */
  readonly allowedHosts?: readonly string[];
}

/** Injection token of the `HttpOptions`. */
export const HTTP_OPTIONS = Symbol('HTTP_OPTIONS');
