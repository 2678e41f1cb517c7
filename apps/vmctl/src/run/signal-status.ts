import { constants } from 'node:os';

/** A shell's status for a command that a signal ended is this and the signal's number. */
const SIGNALLED = 128;

/** The exit status for a signal by its name. The guest tells the name; its numbers are those of Linux, and so of this host. */
export const signalStatus = (signal: string | null | undefined): number =>
  SIGNALLED + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);
