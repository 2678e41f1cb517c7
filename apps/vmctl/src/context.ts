import type { Readable, Writable } from 'node:stream';
import type { GatewayClient } from './api/gateway-client';
import type { Environment } from './api/platform-address';
import type { Printer } from './output/printer';

/** What every command works with. One per invocation. */
export interface CliContext {
  readonly env: Environment;
  readonly gateway: GatewayClient;
  readonly printer: Printer;
  readonly stdin: Readable & { readonly fd?: number };
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Aborts on Ctrl-C and on SIGTERM. */
  readonly signal: AbortSignal;
  /** Sets the exit status; the process ends by itself when nothing is left to do. */
  readonly exit: (status: number) => void;
}

/** Made lazily, because `--json` is known only after the command line was parsed. */
export type ContextOf = () => CliContext;
