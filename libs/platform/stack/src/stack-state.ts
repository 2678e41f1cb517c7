import type { ProcessIdentity } from '@inquest/process';
import { findFileText, writeFileAtomically } from './durable-file';
import { stackError } from './errors';
import type { StackLayout } from './stack-layout';

/** Where a service is in its life under the supervisor. */
export const SERVICE_STATES = ['waiting', 'starting', 'running', 'restarting', 'failed', 'stopped'] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

/** Where the stack as a whole is. `failed`: it never came up, and nothing of it runs. */
export const STACK_STATES = ['starting', 'running', 'stopping', 'failed'] as const;
export type StackStateName = (typeof STACK_STATES)[number];

export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceState;
  /** Null while it has no process. */
  readonly process: ProcessIdentity | null;
  /** Null until it is ready for the first time, and for a service without one. Holds no credentials. */
  readonly url: string | null;
  readonly logFile: string;
  /** How often it was started again after it died. */
  readonly restarts: number;
  /** How its last process ended, or why it could not be started; null when nothing went wrong yet. */
  readonly lastFailure: string | null;
}

/** What `run/stack.json` holds: written by the supervisor only. */
export interface StackState {
  readonly formatVersion: 1;
  readonly state: StackStateName;
  /** Why it failed; null otherwise. */
  readonly failure: string | null;
  readonly startedAtMs: number;
  readonly supervisor: ProcessIdentity;
  readonly services: readonly ServiceStatus[];
  readonly gatewayUrl: string | null;
  readonly natsUrl: string | null;
  /** Holds the password of the database owner: never print it. */
  readonly databaseUrl: string | null;
}

/** The recorded state; null when the stack is down. Throws `STACK_STATE_INVALID`. */
export async function readStackState(layout: StackLayout): Promise<StackState | null> {
  const text = await findFileText(layout.state);
  return text === null ? null : parseStackState(text, layout.state);
}

/** Replaces the recorded state in one step. */
export const writeStackState = (layout: StackLayout, state: StackState): Promise<void> =>
  writeFileAtomically(layout.state, `${JSON.stringify(state, null, 2)}\n`);

/** Checks everything by which a process may be ended later. Throws `STACK_STATE_INVALID`. */
export function parseStackState(text: string, file: string): StackState {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isStackState(parsed)) return parsed;
  } catch {
    // Not JSON: refused below like any other content that we did not write.
  }
  throw stackError('STACK_STATE_INVALID', `${file} does not describe a stack`, { file });
}

type Unchecked<T> = { readonly [K in keyof T]?: unknown };

function isStackState(value: unknown): value is StackState {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Unchecked<StackState>;
  return (
    state.formatVersion === 1 &&
    STACK_STATES.some((name) => name === state.state) &&
    isIdentity(state.supervisor) &&
    Array.isArray(state.services) &&
    state.services.every(isServiceStatus)
  );
}

function isServiceStatus(value: unknown): value is ServiceStatus {
  if (typeof value !== 'object' || value === null) return false;
  const status = value as Unchecked<ServiceStatus>;
  return (
    typeof status.name === 'string' &&
    typeof status.logFile === 'string' &&
    SERVICE_STATES.some((name) => name === status.state) &&
    (status.process === null || isIdentity(status.process))
  );
}

/** Pid 1 and below are never ours: kill(2) takes 0 and -1 for whole groups. */
function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startTicks } = value as Unchecked<ProcessIdentity>;
  return Number.isSafeInteger(pid) && (pid as number) > 1 && Number.isSafeInteger(startTicks);
}
