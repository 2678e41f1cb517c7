import { ApiProperty } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import type { DtoClass } from '@inquest/kernel';

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Schema = Record<string, unknown>;

/** Where @nestjs/swagger keeps what `@ApiProperty` said. */
const API_PROPERTY = 'swagger/apiModelProperties';

/**
 * Describes every DTO class that has validation rules to the OpenAPI generator, from these rules: so the description
 * cannot differ from what is enforced. Explicit `@ApiProperty` decorators win. May be called again.
 */
export function describeDtos(): void {
  for (const Class of dtoClasses()) {
    const defaults = new Class();
    for (const [property, rules] of rulesByProperty(Class)) {
      const prototype = Class.prototype as object;
      if (Reflect.hasMetadata(API_PROPERTY, prototype, property)) continue;
      const schema = propertySchema(Class, property, rules, Reflect.get(defaults, property));
      ApiProperty(schema)(prototype, property);
    }
  }
}

function dtoClasses(): DtoClass[] {
  // The storage has a public look-up by class, but no public list of the classes.
  const byTarget = Reflect.get(getMetadataStorage(), 'validationMetadatas') as ReadonlyMap<unknown, unknown>;
  return [...byTarget.keys()].filter((target): target is DtoClass => typeof target === 'function');
}

function rulesByProperty(Class: DtoClass): ReadonlyMap<string, Rule[]> {
  const grouped = new Map<string, Rule[]>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(Class, '', false, false)) {
    grouped.set(rule.propertyName, [...(grouped.get(rule.propertyName) ?? []), rule]);
  }
  return grouped;
}

function propertySchema(Class: DtoClass, property: string, rules: readonly Rule[], initial: unknown): Schema {
  const isOptional = rules.some(({ type }) => type === 'conditionalValidation');
  const isArray = rules.some(({ name, each }) => name === 'isArray' || each);
  const isNested = rules.some(({ type }) => type === 'nestedValidation');
  const ofValue = rules.filter(({ each }) => !isArray || each);
  const ofArray = isArray ? rules.filter(({ each }) => !each) : [];
  const nested = isNested ? nestedClass(Class, property) : null;
  return {
    required: !isOptional && initial === undefined,
    ...(isOptional ? { nullable: true } : {}),
    ...(initial === undefined ? {} : { default: initial }),
    ...(isArray ? { isArray: true } : {}),
    ...(nested === null ? valueSchema(ofValue) : { type: () => nested }),
    ...limits(ofArray),
  };
}

/** The class that class-transformer would make of the property; it has no public look-up. */
function nestedClass(Class: DtoClass, property: string): unknown {
  const sample: unknown = Reflect.get(plainToInstance(Class, { [property]: [{}] }), property);
  const item: unknown = Array.isArray(sample) ? sample[0] : null;
  return typeof item === 'object' && item !== null ? item.constructor : null;
}

function valueSchema(rules: readonly Rule[]): Schema {
  return { type: valueType(rules), ...limits(rules) };
}

function valueType(rules: readonly Rule[]): string {
  const names = new Set(rules.map(({ name }) => name));
  if (names.has('isInt')) return 'integer';
  if (names.has('isNumber')) return 'number';
  if (names.has('isBoolean')) return 'boolean';
  if (names.has('isObject')) return 'object';
  return 'string';
}

function limits(rules: readonly Rule[]): Schema {
  return Object.assign(
    {},
    ...rules.map(({ name, constraints }) => limit(name ?? '', (constraints ?? []) as unknown[])),
  ) as Schema;
}

function limit(name: string, [first, second]: readonly unknown[]): Schema {
  switch (name) {
    case 'min':
      return { minimum: first };
    case 'max':
      return { maximum: first };
    case 'isLength':
      return { minLength: first, maxLength: second };
    case 'minLength':
      return { minLength: first };
    case 'maxLength':
      return { maxLength: first };
    case 'matches':
      return first instanceof RegExp ? { pattern: first.source } : {};
    case 'isIn':
      return { enum: first };
    case 'arrayMinSize':
      return { minItems: first };
    case 'arrayMaxSize':
      return { maxItems: first };
    case 'isUrl':
      return { format: 'uri' };
    case 'isObject':
      return { additionalProperties: true };
    default:
      return {};
  }
}
