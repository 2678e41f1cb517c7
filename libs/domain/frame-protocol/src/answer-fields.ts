import { type DomainError } from '@inquest/kernel';
import { frameError } from './errors';
import { type JsonObject } from './frame';

/** Reads the properties of one answer of a hostile guest. Every method throws `ANSWER_INVALID` naming the property. */
export class AnswerFields {
  constructor(
    private readonly body: JsonObject,
    private readonly answer: string,
  ) {}

  /** A string of at most `maxLength` characters that matches `pattern` (default: anything). */
  string(name: string, maxLength: number, pattern?: RegExp): string {
    const value = this.own(name);
    if (typeof value !== 'string' || value.length > maxLength) {
      throw this.invalid(name, `is not a string of at most ${maxLength} characters`);
    }
    if (pattern && !pattern.test(value)) throw this.invalid(name, `does not match ${pattern.source}`);
    return value;
  }

  /** A safe integer within the bounds, both included. */
  integer(name: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.own(name);
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      throw this.invalid(name, `is not an integer from ${min} to ${max}`);
    }
    return value as number;
  }

  /** A finite number, 0 or above. */
  number(name: string): number {
    const value = this.own(name);
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
      throw this.invalid(name, 'is not a number of 0 or above');
    }
    return value;
  }

  boolean(name: string): boolean {
    const value = this.own(name);
    if (typeof value !== 'boolean') throw this.invalid(name, 'is not a boolean');
    return value;
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const value = this.own(name);
    const found = values.find((known) => known === value);
    if (found === undefined) throw this.invalid(name, `is none of ${values.join(', ')}`);
    return found;
  }

  /** Null stays null; anything else must pass `read`. */
  nullable<T>(name: string, read: (name: string) => T): T | null {
    return this.own(name) === null ? null : read(name);
  }

  /** An array of at most `maxEntries` objects. */
  objects(name: string, maxEntries: number): readonly AnswerFields[] {
    const value = this.own(name);
    if (!Array.isArray(value) || value.length > maxEntries) {
      throw this.invalid(name, `is not an array of at most ${maxEntries} entries`);
    }
    return value.map((entry: unknown, index) => {
      if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
        throw this.invalid(`${name}[${index}]`, 'is not an object');
      }
      return new AnswerFields(entry as JsonObject, `${this.answer}.${name}[${index}]`);
    });
  }

  private own(name: string): unknown {
    return Object.hasOwn(this.body, name) ? this.body[name] : undefined;
  }

  private invalid(name: string, why: string): DomainError {
    return frameError('ANSWER_INVALID', `property ${name} of the guest's answer "${this.answer}" ${why}`, {
      answer: this.answer,
      property: name,
    });
  }
}
