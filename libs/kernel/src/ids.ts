import { kernelError } from './errors';

/** Everything that may become a file name, a subject token or a QEMU argument. */
export const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type MachineId = Branded<'machine'>;
export type SessionId = Branded<'session'>;
export type RunId = Branded<'run'>;
export type ProjectId = Branded<'project'>;
export type OperationId = Branded<'operation'>;
export type PublicationId = Branded<'publication'>;
export type NodeId = Branded<'node'>;
export type ImageName = Branded<'image'>;

/** Checks an id that came from outside. Throws `ID_INVALID`; nothing is trimmed or replaced. */
export function parseId<T extends string>(value: unknown, what: string): T {
  if (typeof value !== 'string' || !ID_PATTERN.test(value)) {
    throw kernelError('ID_INVALID', `${what} ${preview(value)} is not a valid id (expected ${ID_PATTERN.source})`, {
      what,
    });
  }
  return value as T;
}

const preview = (value: unknown): string =>
  JSON.stringify(typeof value === 'string' ? value.slice(0, 80) : typeof value);

// No vowels, no look-alikes (0/o, 1/l): ids are read aloud and typed by hand.
const ALPHABET = '23456789bcdfghjkmnpqrstvwxz';
const RANDOM_LENGTH = 10;

/** A fresh id `<prefix>-<10 random characters>`: 27^10, about 47 bits. */
export function newId<T extends string>(prefix: string): T {
  const limit = 256 - (256 % ALPHABET.length); // bytes above it would favour the first letters
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    for (const byte of globalThis.crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH * 2))) {
      if (byte < limit && random.length < RANDOM_LENGTH) random += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${prefix}-${random}` as T;
}

const GENERATED_ID = new RegExp(`^.+-[${ALPHABET}]{${RANDOM_LENGTH}}$`);

/** True when `value` looks like an id that `newId` made; anything else can only be a name that a person chose. */
export const isGeneratedId = (value: string): boolean => GENERATED_ID.test(value);

/** A machine id carries its node (`<node>-<random>`), so that verbs go straight to the host that runs it. */
export const newMachineId = (node: NodeId): MachineId => newId<MachineId>(node);

/** The node part of a machine id. Throws `ID_INVALID` when there is none. */
export function nodeOfMachine(machine: MachineId): NodeId {
  const cut = machine.lastIndexOf('-');
  if (cut < 1) throw kernelError('ID_INVALID', `machine id "${machine}" names no node`, { what: 'machine' });
  return machine.slice(0, cut) as NodeId;
}
