import { createHash, randomBytes } from 'node:crypto';
import { findFileText, writeFileAtomically } from './durable-file';
import { stackError } from './errors';
import type { StackLayout } from './stack-layout';

/** What the embedded default generates once per home, so that nothing has to be configured. */
export interface StackSecrets {
  readonly token: string;
  readonly urlSigningKey: string;
  readonly postgresPassword: string;
  /** By user name. */
  readonly natsPasswords: Readonly<Record<string, string>>;
}

const SECRET_BYTES = 32;
const SECRET_PATTERN = /^[A-Za-z0-9_-]{43,128}$/;

/** Reads the secrets of a home and makes the missing ones, each in its 0600 file. Throws `STACK_STATE_INVALID`. */
export async function ensureSecrets(layout: StackLayout, natsUsers: readonly string[]): Promise<StackSecrets> {
  return {
    token: await ensureSecret(layout.token),
    urlSigningKey: await ensureSecret(layout.urlSigningKey),
    postgresPassword: await ensureSecret(layout.postgresPassword),
    natsPasswords: await ensureNatsPasswords(layout.natsPasswords, natsUsers),
  };
}

/** What services get instead of a bearer token: its SHA-256 in hexadecimal. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex');

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

async function ensureSecret(file: string): Promise<string> {
  const found = (await findFileText(file))?.trim();
  if (found === undefined) {
    const secret = newSecret();
    await writeFileAtomically(file, `${secret}\n`);
    return secret;
  }
  if (!SECRET_PATTERN.test(found))
    throw stackError('STACK_STATE_INVALID', `${file} holds no generated secret`, { file });
  return found;
}

async function ensureNatsPasswords(file: string, users: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const found = parsePasswords(await findFileText(file), file);
  const missing = users.filter((user) => !Object.hasOwn(found, user));
  if (missing.length === 0) return found;
  const passwords = { ...found, ...Object.fromEntries(missing.map((user) => [user, newSecret()])) };
  await writeFileAtomically(file, `${JSON.stringify(passwords, null, 2)}\n`);
  return passwords;
}

function parsePasswords(text: string | null, file: string): Readonly<Record<string, string>> {
  if (text === null) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (isPasswordMap(parsed)) return parsed;
  } catch {
    // Not JSON: refused below like any other content that we did not write.
  }
  throw stackError('STACK_STATE_INVALID', `${file} holds no generated passwords`, { file });
}

const isPasswordMap = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((entry) => typeof entry === 'string' && SECRET_PATTERN.test(entry));
