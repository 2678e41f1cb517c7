import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { kernelError, type DtoClass } from '@inquest/kernel';
import { instanceWhenValid } from './dto-plan';
import { violationsOf, type Violation } from './violations';

/** Deeper values are refused before anything recursive looks at them: a stack overflow would be the sender's choice. */
const MAX_DEPTH = 64;
/** Violations and characters in one message: a person or a model reads it. */
const MAX_VIOLATIONS = 20;
const MAX_DEMAND_LENGTH = 300;

export interface ParseDtoOptions {
  /**
   * `refuse` (the default) for what is asked of us; `strip` for replies and events of a peer, which may be a newer
   * version that says more.
   */
  readonly unknown?: 'refuse' | 'strip';
}

/**
 * An instance of `Class` from a value that came from outside, defaults filled in. Throws `INPUT_INVALID` naming every
 * property path that is wrong, never its value. Nothing is converted or repaired.
 */
export function parseDto<T extends object>(Class: DtoClass<T>, value: unknown, options: ParseDtoOptions = {}): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw kernelError('INPUT_INVALID', `${Class.name} must be an object`, { type: Class.name });
  }
  const unknown = options.unknown ?? 'refuse';
  return instanceWhenValid(Class, value, unknown, MAX_DEPTH) ?? parseThoroughly(Class, value, unknown);
}

/** What `parseDto` says of an object whose validity is not plain to see. */
export function parseThoroughly<T extends object>(Class: DtoClass<T>, value: object, unknown: 'refuse' | 'strip'): T {
  if (isDeeperThan(value, MAX_DEPTH)) {
    throw kernelError('INPUT_INVALID', `${Class.name} is nested more than ${MAX_DEPTH} levels deep`, {
      type: Class.name,
    });
  }
  const instance = plainToInstance(Class, value);
  const violations = violationsOf(instance, unknown);
  if (violations.length > 0) throw invalid(Class.name, violations);
  return instance;
}

function invalid(type: string, violations: readonly Violation[]): Error {
  const shown = violations.slice(0, MAX_VIOLATIONS).map(({ path, demands }) => {
    // A nested rule's message names only the last part of its path.
    const text = demands.join(', ');
    return printable(path.includes('.') ? `${path}: ${text}` : text).slice(0, MAX_DEMAND_LENGTH);
  });
  const more = violations.length - shown.length;
  const message = `${type} is invalid: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  return kernelError('INPUT_INVALID', message, { type, violations: violations.length });
}

/** Names of refused properties are the sender's text and end up in logs and terminals. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

function isDeeperThan(root: object, limit: number): boolean {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((node) => Object.values(node).filter(isObject));
  }
  return false;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
