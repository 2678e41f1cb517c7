import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { ID_PATTERN, type DtoClass } from '@inquest/kernel';

const DESCRIPTION = Symbol('description');

/** Several property decorators as one, so that a DTO reads as a list of fields. */
const all =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (target, key) => {
    for (const decorate of decorators) decorate(target, key);
  };

/** An id as `kernel` defines it: safe as a file name, a subject token and an argument. */
export const IsId = (): PropertyDecorator => all(IsString(), Matches(ID_PATTERN));

/** The name of an image: also a directory name and a URL segment. */
export const IsImageName = (): PropertyDecorator => all(IsString(), Matches(/^[a-z0-9][a-z0-9-]{0,31}$/));

/** Hosts that a machine may reach: names, and `*.suffix`. Whether a name is one is for the owner of the machine to say. */
export const IsAllowedHosts = (): PropertyDecorator =>
  all(IsArray(), ArrayMaxSize(64), IsString({ each: true }), Matches(/^[A-Za-z0-9_.*-]{1,255}$/, { each: true }));

/** Text for people, bounded. */
export const IsText = (maxLength: number, minLength = 0): PropertyDecorator =>
  all(IsString(), Length(minLength, maxLength));

/** An absolute path inside a guest. It never becomes a path on the host. */
export const IsGuestPath = (): PropertyDecorator => all(IsString(), MaxLength(4096), Matches(/^\/[^\x00]*$/));

/** A whole number within bounds, both included. */
export const IsWhole = (min: number, max: number): PropertyDecorator => all(IsInt(), Min(min), Max(max));

const MAX_VARIABLES = 256;
const MAX_VALUE_CHARS = 128 * 1024;
const isVariable = ([name, value]: readonly [string, unknown]): boolean =>
  /^[^=\0]{1,256}$/.test(name) && typeof value === 'string' && value.length <= MAX_VALUE_CHARS && !value.includes('\0');

/** Environment variables of a command by name; execve(2) takes neither `=` in a name nor NUL. Values are never shown. */
export const IsEnvironment = (): PropertyDecorator =>
  all(
    IsObject(),
    ValidateBy({
      name: 'isEnvironment',
      validator: {
        validate: (value: unknown) => {
          const variables = Object.entries(value ?? {}) as [string, unknown][];
          return variables.length <= MAX_VARIABLES && variables.every(isVariable);
        },
        defaultMessage: () =>
          `$property must be at most ${MAX_VARIABLES} names without "=" or NUL, each with a string without NUL`,
      },
    }),
  );

/** Milliseconds since the Unix epoch. */
export const IsTimeMs = (): PropertyDecorator => IsWhole(0, Number.MAX_SAFE_INTEGER);

/** A list of nested objects of one class. */
export const IsListOf = (make: () => DtoClass, maxItems: number): PropertyDecorator =>
  all(
    IsArray(),
    ArrayMaxSize(maxItems),
    ValidateNested({ each: true }),
    Type(() => make()),
  );

/** One nested object of a class. */
export const IsNested = (make: () => DtoClass): PropertyDecorator =>
  all(
    ValidateNested(),
    Type(() => make()),
  );

/** Null or absent means "unset"; otherwise the other decorators of the property apply. */
export const Nullable = IsOptional;

/** What a property means, for the schemas that are made of its class; read back with `descriptionOf`. */
export const Described = (text: string): PropertyDecorator => Reflect.metadata(DESCRIPTION, text);

/** What `Described` said of a property; null when nothing was said. */
export function descriptionOf(Class: DtoClass, property: string): string | null {
  const text: unknown = Reflect.getMetadata(DESCRIPTION, Class.prototype as object, property);
  return typeof text === 'string' ? text : null;
}

/** A request or view with its defaults filled in, for callers in code; what the other side receives is validated there. */
export const dto = <T extends object>(Class: new () => T, values: Partial<T>): T => Object.assign(new Class(), values);
