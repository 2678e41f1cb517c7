import { workTreeError } from './errors';

/** Who made or recorded a commit, and when. */
export interface CommitIdentity {
  readonly name: string;
  readonly email: string;
  /** Ms since the Unix epoch; git keeps whole seconds. */
  readonly atMs: number;
}

const MAX_MESSAGE_BYTES = 64 * 1024;
// What git itself would silently take out of a name, or take for the end of it.
const NAME = /^[^\p{C}<>]{1,200}$/u;
const EMAIL = /^[^\p{C}<>\s]{1,200}$/u;

/** The identity as git reads it from its environment. Throws `COMMIT_INPUT_INVALID`. */
export function identityEnvironment(
  role: 'AUTHOR' | 'COMMITTER',
  { name, email, atMs }: CommitIdentity,
): Record<string, string> {
  if (!NAME.test(name) || name.trim() === '' || !EMAIL.test(email)) {
    throw invalid(`the ${role.toLowerCase()} has a name or address that git cannot record`);
  }
  if (!Number.isFinite(atMs) || atMs < 0) throw invalid(`the ${role.toLowerCase()} has no valid time`);
  const prefix = `GIT_${role}`;
  return {
    [`${prefix}_NAME`]: name,
    [`${prefix}_EMAIL`]: email,
    [`${prefix}_DATE`]: `@${Math.floor(atMs / 1000)} +0000`,
  };
}

/** Throws `COMMIT_INPUT_INVALID` unless git can record the message as it is. */
export function checkMessage(message: string): void {
  const sizeBytes = Buffer.byteLength(message);
  if (message.trim() === '' || message.includes('\0') || sizeBytes > MAX_MESSAGE_BYTES) {
    throw invalid(`a message of ${sizeBytes} bytes is empty, too long or has a NUL in it`);
  }
}

const invalid = (why: string) => workTreeError('COMMIT_INPUT_INVALID', `the commit cannot be made: ${why}`);
