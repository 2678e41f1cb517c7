import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, ValidationTypes, type ValidationArguments } from 'class-validator';
import type { DtoClass } from '@inquest/kernel';

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Condition = (object: object, value: unknown) => boolean;

/** One demand on the value of a property. */
interface Check {
  readonly rule: Rule;
  readonly validate: (value: unknown, args: ValidationArguments) => unknown;
}

/** Everything that the rules of a class say of one property. */
interface PropertyPlan {
  readonly name: string;
  /** All of them must hold, or the property is not looked at. */
  readonly conditions: readonly Condition[];
  readonly checks: readonly Check[];
  /** The class of the objects that it holds; null = it holds no objects. */
  readonly nested: DtoClass | null;
}

/** The properties of a class by name. */
type DtoPlan = ReadonlyMap<string, PropertyPlan>;

/** Null for a class that has a rule which is not understood here. */
const plans = new WeakMap<DtoClass, DtoPlan | null>();

/**
 * An instance of `Class` when `source` is valid beyond doubt, made as class-transformer makes it where `Type` is its only
 * decorator; null when it is not, or when it cannot be told here: class-validator then has the last word. That one gathers
 * the rules of a class anew for every object, which costs more than to apply them; here they are gathered once.
 * Looks no more than `maxDepth` objects deep.
 */
export function instanceWhenValid<T extends object>(
  Class: DtoClass<T>,
  source: object,
  unknown: 'refuse' | 'strip',
  maxDepth: number,
): T | null {
  const plan = maxDepth < 0 || !isPlain(source) ? null : planOf(Class);
  if (plan === null) return null;
  const instance = new Class();
  for (const [key, value] of Object.entries(source)) {
    const property = plan.get(key);
    if (property === undefined) {
      // An object that is stripped may still be nested too deep.
      if (unknown === 'strip' && !isObject(value)) continue;
      return null;
    }
    const taken = takeValue(property, value, unknown, maxDepth - 1);
    if (taken === undefined) return null;
    Reflect.set(instance, key, taken);
  }
  for (const property of plan.values()) if (!holds(property, instance, source)) return null;
  return instance;
}

/** Undefined for a value that is for class-transformer to take. */
function takeValue(property: PropertyPlan, value: unknown, unknown: 'refuse' | 'strip', maxDepth: number): unknown {
  if (!isObject(value)) return value;
  const { nested } = property;
  const taken = (item: unknown): unknown => {
    if (nested === null) return isObject(item) ? undefined : item;
    return isObject(item) ? (instanceWhenValid(nested, item, unknown, maxDepth) ?? undefined) : undefined;
  };
  if (!Array.isArray(value)) return nested === null ? undefined : taken(value);
  const items = value.map(taken);
  return items.includes(undefined) ? undefined : items;
}

function holds({ name, conditions, checks, nested }: PropertyPlan, object: object, source: object): boolean {
  const value: unknown = Reflect.get(object, name);
  // What `takeValue` has looked at is valid; a default may be anything.
  if (nested !== null && isObject(value) && !Object.hasOwn(source, name) && !isEmptyList(value)) return false;
  // Of an object that is not looked at, class-validator strips nothing.
  if (!conditions.every((condition) => condition(object, value))) return !isObject(value);
  if (nested !== null && value !== undefined && !isObject(value)) return false;
  return checks.every((check) => passes(check, value, object));
}

function passes({ rule, validate }: Check, value: unknown, object: object): boolean {
  const { propertyName: property, constraints } = rule;
  const args = { targetName: object.constructor.name, property, object, value, constraints: constraints as unknown[] };
  const isGood = (item: unknown): boolean => validate(item, args) === true;
  return rule.each && Array.isArray(value) ? value.every(isGood) : isGood(value);
}

function planOf(Class: DtoClass): DtoPlan | null {
  let plan = plans.get(Class);
  if (plan === undefined) {
    plan = makePlan(Class);
    plans.set(Class, plan);
  }
  return plan;
}

function makePlan(Class: DtoClass): DtoPlan | null {
  if (hasMembers(Class)) return null;
  const grouped = new Map<string, Rule[]>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(Class, '', false, false)) {
    grouped.set(rule.propertyName, [...(grouped.get(rule.propertyName) ?? []), rule]);
  }
  const properties = [...grouped].map(([name, rules]) => planProperty(Class, name, rules));
  return properties.every((property) => property !== null)
    ? new Map(properties.map((property) => [property.name, property]))
    : null;
}

/** Null when there is a rule of a kind that is not understood here. */
function planProperty(Class: DtoClass, name: string, rules: readonly Rule[]): PropertyPlan | null {
  const conditions: Condition[] = [];
  const checks: Check[] = [];
  let isNested = false;
  for (const rule of rules) {
    switch (rule.type) {
      case ValidationTypes.CONDITIONAL_VALIDATION:
        conditions.push((rule.constraints as Condition[])[0] as Condition);
        break;
      case ValidationTypes.CUSTOM_VALIDATION: {
        const found = checksOf(rule);
        if (found === null) return null;
        checks.push(...found);
        break;
      }
      case ValidationTypes.NESTED_VALIDATION:
        isNested = true;
        break;
      default:
        return null;
    }
  }
  const nested = isNested ? nestedClass(Class, name) : null;
  return isNested && nested === null ? null : { name, conditions, checks, nested };
}

function checksOf(rule: Rule): Check[] | null {
  const found = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls);
  if (rule.validateIf !== undefined || found.some((constraint) => constraint.async)) return null;
  return found.map(({ instance }) => ({ rule, validate: (value, args) => instance.validate(value, args) }));
}

/** The class that class-transformer makes of an object in that property; it has no public look-up. */
function nestedClass(Class: DtoClass, property: string): DtoClass | null {
  const sample: unknown = Reflect.get(plainToInstance(Class, { [property]: {} }), property);
  const made = isObject(sample) ? (sample.constructor as DtoClass) : Object;
  return made === Object ? null : (made as DtoClass);
}

/** Properties that a prototype has are not set by class-transformer. */
function hasMembers(Class: DtoClass): boolean {
  for (let at: unknown = Class.prototype; isObject(at) && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (Reflect.ownKeys(at).length > 1) return true;
  }
  return false;
}

const isEmptyList = (value: object): boolean => Array.isArray(value) && value.length === 0;
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
