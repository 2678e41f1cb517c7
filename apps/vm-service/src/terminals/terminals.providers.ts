import type { Provider } from '@nestjs/common';
import { DEFAULT_TERMINAL_LIMITS, TERMINAL_LIMITS } from './terminal-limits';
import { TerminalSockets } from './terminal-sockets';
import { Terminals } from './terminals.service';

/** Everything behind the terminals of a node. */
export const TERMINAL_PROVIDERS: readonly Provider[] = [
  { provide: TERMINAL_LIMITS, useValue: DEFAULT_TERMINAL_LIMITS },
  Terminals,
  TerminalSockets,
];
