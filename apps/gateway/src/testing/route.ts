/** One route, how it is called, and the call that it must become. */
export interface Route {
  /** As OpenAPI writes it. */
  readonly route: string;
  readonly call: string;
  readonly body?: object;
  readonly status?: number;
  /** The last call that is made for it, and what of its request matters. */
  readonly subject: string;
  readonly request: object;
}
