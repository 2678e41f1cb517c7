/** Pairs below one another, indented by two, the second of each in one column. */
export function aligned(pairs: readonly (readonly [first: string, second: string])[]): readonly string[] {
  const width = Math.max(...pairs.map(([first]) => first.length));
  return pairs.map(([first, second]) => `  ${first.padEnd(width)}   ${second}`.trimEnd());
}
