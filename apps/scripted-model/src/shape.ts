/** True for an object that is no list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first property of `value` that is not among `known`, or null. */
export const unknownProperty = (value: object, known: readonly string[]): string | null =>
  Object.keys(value).find((key) => !known.includes(key)) ?? null;
