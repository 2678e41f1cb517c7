import { validationMetadatasToSchemas } from 'class-validator-jsonschema';
import { VERBS } from '@inquest/contracts-agent';

/** A tool as a model is offered it. */
export interface VerbTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The tool list of the model, made from the verb table, so that what is offered is what is checked. */
export function verbTools(): VerbTool[] {
  const schemas = validationMetadatasToSchemas() as Readonly<Record<string, Record<string, unknown> | undefined>>;
  return Object.entries(VERBS).map(([name, row]) => ({
    name,
    description: row.description,
    parameters: schemas[row.arguments.name] ?? { type: 'object', properties: {} },
  }));
}
