import 'reflect-metadata';
import { getMetadataStorage } from 'class-validator';
import type { DtoClass } from '@inquest/kernel';

/** Strings as the outside gives them: environment variables, query parameters. */
export type StringValues = Readonly<Record<string, unknown>>;

/**
 * Converts the strings of `values` to the types that the properties of `Class` declare: number, boolean, or an array
 * of strings (comma separated). What cannot be converted stays as it is, so that validation names it.
 */
export function coerceStrings(Class: DtoClass, values: StringValues): Record<string, unknown> {
  const coerced = Object.entries(values).map(([key, value]) => [key, coerceString(declaredType(Class, key), value)]);
  return Object.fromEntries(coerced) as Record<string, unknown>;
}

/** The type that TypeScript recorded for a decorated property, or, for a union such as `number | null`, its rules say. */
export function declaredType(Class: DtoClass, property: string): unknown {
  const recorded: unknown = Reflect.getMetadata('design:type', Class.prototype as object, property);
  return recorded === Object || recorded === undefined ? typeByRules(Class, property) : recorded;
}

const TYPE_OF_RULE: Readonly<Record<string, unknown>> = {
  isInt: Number,
  isNumber: Number,
  isBoolean: Boolean,
  isArray: Array,
};

function typeByRules(Class: DtoClass, property: string): unknown {
  return getMetadataStorage()
    .getTargetValidationMetadatas(Class, '', false, false)
    .filter(({ propertyName }) => propertyName === property)
    .map(({ name }) => TYPE_OF_RULE[name ?? ''])
    .find((type) => type !== undefined);
}

/** One value as the declared type; unchanged when it is not a string or does not fit. */
export function coerceString(type: unknown, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === Number) return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (type === Boolean) return value === 'true' ? true : value === 'false' ? false : value;
  if (type === Array)
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  return value;
}
