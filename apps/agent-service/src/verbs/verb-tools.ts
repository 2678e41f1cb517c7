import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { VERBS, type VerbRow } from '@inquest/contracts-agent';
import { descriptionOf } from '@inquest/contracts-base';
import type { ModelTool } from '@inquest/model-client';

type Rule = { readonly constraints: unknown[] };
type Schema = Readonly<Record<string, unknown>>;

/** Endpoints turn the schema into a grammar: they differ in what they take beside the plain words of JSON Schema. */
const CONVERTERS = {
  isInt: { type: 'integer' as const },
  matches: ({ constraints: [pattern] }: Rule) => ({
    type: 'string' as const,
    // RegExp.source escapes the slash, which some dialects of regular expressions refuse.
    pattern: pattern instanceof RegExp ? pattern.source.replaceAll('\\/', '/') : String(pattern),
  }),
  // Without these the library makes every bounded number a fraction.
  min: ({ constraints: [minimum] }: Rule) => ({ minimum: minimum as number }),
  max: ({ constraints: [maximum] }: Rule) => ({ maximum: maximum as number }),
};

/** The tool list of the model, made from the verb table, so that what is offered is what is checked. */
export const verbTools = (): ModelTool[] =>
  Object.entries(VERBS).map(([name, row]) => ({
    name,
    description: row.description,
    parameters: parametersOf(row.arguments),
  }));

function parametersOf(Class: VerbRow['arguments']): Schema {
  const { properties = {} } = targetConstructorToSchema(Class, { additionalConverters: CONVERTERS });
  const defaults = new Class();
  const names = Object.keys(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => [name, propertyOf(Class, name, properties[name] as Schema, Reflect.get(defaults, name))]),
    ),
    required: names.filter((name) => Reflect.get(defaults, name) === undefined),
    additionalProperties: false,
  };
}

function propertyOf(Class: VerbRow['arguments'], name: string, schema: Schema, initial: unknown): Schema {
  const description = descriptionOf(Class, name);
  return {
    ...(description === null ? {} : { description }),
    ...schema,
    // Leaving an argument out is the one way to leave it unset that every endpoint knows; null is accepted all the same.
    ...(initial === undefined || initial === null ? {} : { default: initial }),
  };
}
