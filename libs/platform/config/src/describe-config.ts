import { getMetadataStorage } from 'class-validator';
import type { DtoClass } from '@inquest/kernel';
import { declaredType } from './coerce-strings';
import { envBindings } from './env.decorator';

/** One environment variable, for the documentation. */
export interface ConfigRow {
  readonly variable: string;
  readonly type: 'string' | 'number' | 'boolean' | 'list';
  readonly description: string;
  /** As it would be written in the environment; null: there is none. */
  readonly default: string | null;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
}

/** What a configuration class reads, one row per variable. */
export function describeConfig(Class: DtoClass): ConfigRow[] {
  return envBindings(Class).map((binding) => ({
    variable: binding.variable,
    type: typeName(declaredType(Class, binding.property)),
    description: binding.description,
    default: binding.default ?? null,
    isRequired: binding.default === undefined && !isOptional(Class, binding.property),
    isSecret: binding.secret ?? false,
  }));
}

function typeName(type: unknown): ConfigRow['type'] {
  if (type === Number) return 'number';
  if (type === Boolean) return 'boolean';
  return type === Array ? 'list' : 'string';
}

function isOptional(Class: DtoClass, property: string): boolean {
  return getMetadataStorage()
    .getTargetValidationMetadatas(Class, '', false, false)
    .some((rule) => rule.propertyName === property && rule.type === 'conditionalValidation');
}
