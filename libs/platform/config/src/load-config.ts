import type { DtoClass } from '@inquest/kernel';
import { coerceString, declaredType } from './coerce-strings';
import { envBindings, type EnvBinding } from './env.decorator';
import { configError } from './errors';
import { violationsOf, type Violation } from './violations';

/** Environment variables; unset and empty mean the same. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Characters of a wrong value that an error shows. */
const SHOWN_VALUE_LENGTH = 80;

/**
 * A frozen, valid instance of a configuration class, read from `env`. `fixed` are the properties that the program
 * itself decides. Throws one `CONFIG_INVALID` that names every wrong variable; values of secrets are not in it.
 */
export function loadConfig<T extends object>(
  Class: DtoClass<T>,
  env: Environment = process.env,
  fixed: Partial<T> = {},
): T {
  const bindings = envBindings(Class);
  const config = new Class();
  for (const binding of bindings) {
    const value = rawValue(binding, env);
    if (value !== undefined) {
      Reflect.set(config, binding.property, coerceString(declaredType(Class, binding.property), value));
    }
  }
  Object.assign(config, fixed);
  const violations = violationsOf(config, 'refuse');
  if (violations.length > 0) throw invalidConfig(violations, bindings, env);
  return Object.freeze(config);
}

/** The values of the secret properties, for the log's redactor. */
export function secretsOf(config: object): string[] {
  return envBindings(config.constructor as DtoClass)
    .filter((binding) => binding.secret === true)
    .map((binding): unknown => Reflect.get(config, binding.property))
    .filter((value): value is string => typeof value === 'string' && value !== '');
}

function rawValue(binding: EnvBinding, env: Environment): string | undefined {
  const value = env[binding.variable];
  return value === undefined || value === '' ? binding.default : value;
}

function invalidConfig(violations: readonly Violation[], bindings: readonly EnvBinding[], env: Environment): Error {
  const lines = violations.map(({ path, demands }) => {
    const property = path.split('.')[0] ?? path;
    const binding = bindings.find((candidate) => candidate.property === property);
    if (binding === undefined) return demands.join(', ');
    const rules = demands.map((demand) => demand.replaceAll(property, binding.variable)).join(', ');
    return `${rules} (${describeValue(binding, env)})`;
  });
  const variables = violations.length;
  return configError('CONFIG_INVALID', `the configuration is invalid: ${lines.join('; ')}`, { variables });
}

function describeValue(binding: EnvBinding, env: Environment): string {
  const value = rawValue(binding, env);
  if (value === undefined) return 'it is not set';
  return binding.secret === true
    ? 'its value is secret'
    : `it is ${JSON.stringify(value.slice(0, SHOWN_VALUE_LENGTH))}`;
}
