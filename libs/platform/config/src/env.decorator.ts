import 'reflect-metadata';
import type { DtoClass } from '@inquest/kernel';

/** Where a property of a configuration class comes from. */
export interface EnvOptions {
  /** For operators, one sentence. */
  readonly description: string;
  /** Used when the variable is unset or empty, written as the variable would be. */
  readonly default?: string;
  /** Its value is never printed, logged or part of an error. */
  readonly secret?: boolean;
}

export interface EnvBinding extends EnvOptions {
  readonly variable: string;
  readonly property: string;
}

const BINDINGS = Symbol('inquest:env');

/**
 * Binds a property of a configuration class to an environment variable. The declared type decides the conversion:
 * string, number, boolean (`true`, `false`) or string[] (comma separated); class-validator decorators beside it decide
 * what is valid. Without a default the variable is required, unless the property is `@IsOptional()`.
 */
export const Env =
  (variable: string, options: EnvOptions): PropertyDecorator =>
  (target, property) => {
    const binding: EnvBinding = { ...options, variable, property: String(property) };
    const inherited = (Reflect.getMetadata(BINDINGS, target) ?? []) as readonly EnvBinding[];
    Reflect.defineMetadata(BINDINGS, [...inherited, binding], target);
  };

/** The bindings of a configuration class and of the classes it extends, in order of declaration. */
export function envBindings(Class: DtoClass): readonly EnvBinding[] {
  return (Reflect.getMetadata(BINDINGS, Class.prototype as object) ?? []) as readonly EnvBinding[];
}
