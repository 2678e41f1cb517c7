import { QmpClient, type QmpDeadline } from '@inquest/qmp';
import { instanceFile } from '@inquest/vm-driver';
import { connectUnix } from './unix-connection';

/** Connects to one of an instance's monitors, which takes one client at a time. Rejects as `QmpClient.negotiate`, or with the system's error. */
export async function openMonitor(
  directory: string,
  file: 'recorderSocket' | 'controlSocket',
  deadline: QmpDeadline & { readonly signal: AbortSignal },
): Promise<QmpClient> {
  return QmpClient.negotiate(await connectUnix(instanceFile(directory, file), deadline.signal), deadline);
}
