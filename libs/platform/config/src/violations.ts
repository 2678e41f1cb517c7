import { validateSync, type ValidationError } from 'class-validator';

/** One property that breaks its rules. */
export interface Violation {
  /** Path from the root, `disk.layers.0.name`. */
  readonly path: string;
  /** What each broken rule demands. */
  readonly demands: readonly string[];
}

/** Every broken rule of an instance of a DTO or configuration class. */
export function violationsOf(instance: object, unknown: 'refuse' | 'strip'): Violation[] {
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: unknown === 'refuse',
    // A class without any rule is a request without properties: it must accept `{}` and refuse everything else.
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
  });
  return errors.flatMap((error) => flatten(error, ''));
}

function flatten(error: ValidationError, prefix: string): Violation[] {
  const path = prefix === '' ? error.property : `${prefix}.${error.property}`;
  const own = Object.values(error.constraints ?? {});
  return [
    ...(own.length > 0 ? [{ path, demands: own }] : []),
    ...(error.children ?? []).flatMap((child) => flatten(child, path)),
  ];
}
