export { bootId } from './boot-id';
export { checkReadable } from './file-access';
export { makeInstancesRoot, unlinkSockets } from './instance-directory';
export { recordOf, writeInstanceRecord } from './instance-record';
export { chooseMonitorUser, type MonitorUser } from './monitor-user';
export { OwnedLives, type OwnedMachine } from './owned-lives';
export { prepareInstance, type InstancePlan } from './prepare-instance';
export { findInstanceProcesses, instanceNamedIn, type InstanceOfCommand } from './process-scan';
export { releaseAll, startError, type StartEnd } from './start-failure';
