/** What /health says about the program itself. */
export interface HealthOptions {
  readonly serviceName: string;
  readonly version: string;
  readonly nodeId: string;
}

/** Injection token of the `HealthOptions`. */
export const HEALTH_OPTIONS = Symbol('HEALTH_OPTIONS');
