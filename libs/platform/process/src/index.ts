export { baseEnvironment, type Environment } from './environment';
export { processError } from './errors';
export { findExecutable, getExecutable } from './find-executable';
export { boundLog } from './log-file';
export { openCommand, type OpenCommand, type OpenCommandOptions } from './open-command';
export {
  isAlive,
  killAndObserve,
  sendSignal,
  observeGone,
  processIdentity,
  type EndedHow,
  type ProcessIdentity,
} from './process-identity';
export { runCommand, runCommandBytes, type CommandOptions, type CommandResult, type ProcessUser } from './run-command';
export { spawnOwned, type OwnedProcess, type ProcessExit, type SpawnOptions } from './spawn-owned';
