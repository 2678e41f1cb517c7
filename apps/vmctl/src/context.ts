import { GatewayClient } from './api/gateway-client';
import type { Environment } from './api/platform-address';
import { Printer } from './output/printer';

/** What every command works with. One per invocation. */
export interface CliContext {
  readonly env: Environment;
  readonly gateway: GatewayClient;
  readonly printer: Printer;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Sets the exit status; the process ends by itself when nothing is left to do. */
  exit(status: number): void;
}

/** Made lazily, because `--json` is known only after the command line was parsed. */
export type ContextOf = () => CliContext;
