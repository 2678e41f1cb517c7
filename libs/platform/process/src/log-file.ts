import { constants, copyFile, type FileHandle, open, rename, stat, truncate } from 'node:fs/promises';

const LOG_ROTATE_BYTES = 16 * 1024 * 1024;

/** Opens a log to append to, made with mode 0600; one that grew past 16 MiB is put aside as `<logFile>.1` first. */
export async function openLog(logFile: string): Promise<FileHandle> {
  if (await isGrown(logFile)) await rename(logFile, `${logFile}.1`);
  return open(logFile, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
}

/**
 * Puts the content of a log that grew past 16 MiB aside as `<logFile>.1`, while its writer goes on: the file itself stays
 * and is emptied. Lines that are written in between may be lost. False when there was nothing to do.
 */
export async function boundLog(logFile: string): Promise<boolean> {
  if (!(await isGrown(logFile))) return false;
  await copyFile(logFile, `${logFile}.1`, constants.COPYFILE_FICLONE);
  await truncate(logFile, 0);
  return true;
}

async function isGrown(logFile: string): Promise<boolean> {
  const sizeBytes = (await stat(logFile).catch(() => null))?.size ?? 0;
  return sizeBytes > LOG_ROTATE_BYTES;
}
