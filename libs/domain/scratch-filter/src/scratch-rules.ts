import { parse, YAMLError } from 'yaml';
import type { DomainError } from '@inquest/kernel';
import { scratchError } from './errors';

/** One glob of a project's own rules. */
export interface ProjectRule {
  /** A path glob: `*` and `?` stay inside one name, `**` crosses directories, a trailing `/` means everything below. */
  readonly pattern: string;
  /** The reason the project gives, shown in reports; null when it gives none. */
  readonly why: string | null;
}

/** What `.inquest/scratch.yaml` says. `keep` wins over `hold`, and both win over the default rules. */
export interface ScratchRules {
  readonly keep: readonly ProjectRule[];
  readonly hold: readonly ProjectRule[];
}

/** Where a project keeps its own rules, from its root. */
export const SCRATCH_RULES_PATH = '.inquest/scratch.yaml';

/** What is read of that file, at most: room for every rule that is allowed at the length that people write. */
export const MAX_SCRATCH_RULES_BYTES = 64 * 1024;

const KEYS = ['keep', 'hold'] as const;

/** Bounds of a hostile file; a project that needs more has a .gitignore. */
const MAX_RULES = 500;
const MAX_PATTERN_LENGTH = 512;
const MAX_WHY_LENGTH = 512;

/** Reports stay readable; the count tells the rest. */
const MAX_LISTED_PROBLEMS = 20;

class Problems {
  private readonly list: string[] = [];

  add(where: string, what: string): void {
    this.list.push(`${where} ${what}`);
  }

  throwIfAny(): void {
    const count = this.list.length;
    if (count === 0) return;
    const listed = this.list.slice(0, MAX_LISTED_PROBLEMS).join('; ');
    const more = count > MAX_LISTED_PROBLEMS ? `; and ${count - MAX_LISTED_PROBLEMS} more` : '';
    throw scratchError('SCRATCH_RULES_INVALID', `${SCRATCH_RULES_PATH} is not valid: ${listed}${more}.`, { count });
  }
}

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The error for a file of rules that nobody reads because of its size. `sizeBytes` is that of the whole file.
 */
export const scratchRulesTooLarge = (sizeBytes: number): DomainError =>
  scratchError(
    'SCRATCH_RULES_TOO_LARGE',
    `${SCRATCH_RULES_PATH} has ${sizeBytes} bytes, and at most ${MAX_SCRATCH_RULES_BYTES} are read.`,
    { sizeBytes, maxBytes: MAX_SCRATCH_RULES_BYTES },
  );

/**
 * Reads the project's rules from the text of their file. Throws `SCRATCH_RULES_TOO_LARGE`, and `SCRATCH_RULES_INVALID`
 * for what is no YAML, has aliases, or has not the shape of `parseScratchRules`.
 */
export function readScratchRules(text: string): ScratchRules {
  const sizeBytes = new TextEncoder().encode(text).length;
  if (sizeBytes > MAX_SCRATCH_RULES_BYTES) throw scratchRulesTooLarge(sizeBytes);
  return parseScratchRules(parseYaml(text));
}

function parseYaml(text: string): unknown {
  try {
    // Aliases can multiply without bound.
    return parse(text, { maxAliasCount: 0, uniqueKeys: true, logLevel: 'error' });
  } catch (e) {
    if (!(e instanceof Error)) throw e;
    throw scratchError('SCRATCH_RULES_INVALID', `${SCRATCH_RULES_PATH} is not valid: ${faultOf(e)}.`, {}, e);
  }
}

/** In words. What the parser throws besides its own errors are the bounds: of aliases, and of the stack. */
function faultOf(e: Error): string {
  if (e.name === 'RangeError') return 'it is nested too deep';
  if (e instanceof YAMLError) return firstLineOf(e.message);
  return e.name === 'ReferenceError' ? 'it has aliases, which are not allowed' : `it cannot be read (${e.name})`;
}

// The parser shows the place on further lines.
const firstLineOf = (message: string): string => (message.split('\n', 1)[0] ?? '').replace(/[:.]?\s*$/, '');

/**
 * Reads the project's rules from parsed YAML: `{keep?: Rule[], hold?: Rule[]}`, where a rule is a glob or
 * `{pattern, why?}`. An empty document gives no rules. Throws `SCRATCH_RULES_INVALID` with every problem at once.
 *
 * Read the file from the last commit, not from the collected tree: there the session could have written it.
 */
export function parseScratchRules(data: unknown): ScratchRules {
  const problems = new Problems();
  const rules = { keep: [] as ProjectRule[], hold: [] as ProjectRule[] };
  if (data !== null && data !== undefined && !isMapping(data)) {
    problems.add('the document', 'must be a mapping with `keep` and `hold`');
  } else {
    const mapping = data ?? {};
    checkKeys(mapping, KEYS, 'the document', problems);
    for (const key of KEYS) rules[key].push(...parseList(mapping[key], key, problems));
  }
  problems.throwIfAny();
  return rules;
}

function checkKeys(mapping: object, known: readonly string[], where: string, problems: Problems): void {
  for (const key of Object.keys(mapping)) {
    if (!known.includes(key)) problems.add(where, `has the unknown key ${JSON.stringify(key.slice(0, 64))}`);
  }
}

function parseList(value: unknown, where: string, problems: Problems): readonly ProjectRule[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.add(where, 'must be a list');
    return [];
  }
  if (value.length > MAX_RULES) {
    problems.add(where, `has ${value.length} rules, at most ${MAX_RULES} are allowed`);
    return [];
  }
  return value.flatMap((item: unknown, i) => parseRule(item, `${where}[${i}]`, problems));
}

function parseRule(item: unknown, where: string, problems: Problems): readonly ProjectRule[] {
  const mapping = typeof item === 'string' ? { pattern: item } : item;
  if (!isMapping(mapping)) {
    problems.add(where, 'must be a glob or a mapping with `pattern` and `why`');
    return [];
  }
  checkKeys(mapping, ['pattern', 'why'], where, problems);
  const { pattern, why = null } = mapping;
  const whyProblem = why === null ? null : textProblem(why, MAX_WHY_LENGTH);
  if (whyProblem !== null) problems.add(`${where}.why`, whyProblem);
  const patternFault = patternProblem(pattern);
  if (patternFault !== null) problems.add(`${where}.pattern`, patternFault);
  return typeof pattern === 'string' ? [{ pattern, why: typeof why === 'string' ? why : null }] : [];
}

function textProblem(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string' || value.trim() === '') return 'must be a text that is not empty';
  return value.length > maxLength ? `is longer than ${maxLength} characters` : null;
}

function patternProblem(pattern: unknown): string | null {
  const problem = textProblem(pattern, MAX_PATTERN_LENGTH);
  if (problem !== null || typeof pattern !== 'string') return problem;
  if (pattern.startsWith('/')) return 'must be relative to the root of the project, without a leading slash';
  if (pattern.startsWith('!')) return 'cannot be negated with `!`; put it under the other key';
  if (/[[\]{}\\\0]/.test(pattern)) return 'may use the wildcards *, ** and ? only';
  const names = pattern.replace(/\/$/, '').split('/');
  return names.some((name) => name === '' || name === '.' || name === '..') ? 'has an empty, `.` or `..` name' : null;
}
