/**
 * JSON with sorted keys and no white space: equal values give equal text, so two computations can be compared by bytes.
 * Properties that are `undefined` are left out; a number that is not finite becomes null.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  // A null prototype keeps a hostile "__proto__" key an ordinary property.
  const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of entries) result[key] = sorted(item);
  return result;
}
