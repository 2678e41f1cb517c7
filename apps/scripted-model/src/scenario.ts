import { parse } from 'yaml';
import { scenarioError } from './errors';
import { isRecord, unknownProperty } from './shape';

/** One verb call of a turn. */
export interface ScriptedCall {
  readonly verb: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the model does in one turn. */
export interface ScriptedTurn {
  readonly say: string;
  readonly calls: readonly ScriptedCall[];
}

/** What is played instead where the person's request has certain words in it. */
export interface ScenarioVariant {
  /** Upper and lower case are the same. */
  readonly when: string;
  readonly turns: readonly ScriptedTurn[];
}

/** A model's part of a conversation, written in advance. The turn is chosen by the number of its earlier turns. */
export interface Scenario {
  readonly turns: readonly ScriptedTurn[];
  /** The first one that fits the request is played. */
  readonly variants: readonly ScenarioVariant[];
}

const MAX_VARIANTS = 100;
const MAX_TURNS = 1000;
const MAX_CALLS = 64;
const AFTER_THE_LAST: ScriptedTurn = { say: 'My script has no further turn.', calls: [] };

/** The turn that follows `turnsSoFar` turns of the model; after the last one it only says that the script is over. */
export function turnAfter(scenario: Scenario, turnsSoFar: number, request: string): ScriptedTurn {
  const asked = request.toLowerCase();
  const { turns } = scenario.variants.find(({ when }) => asked.includes(when.toLowerCase())) ?? scenario;
  return turns[turnsSoFar] ?? AFTER_THE_LAST;
}

/** Reads a scenario from YAML text. Throws one `SCENARIO_INVALID` that names everything that is wrong, with its path. */
export function parseScenario(text: string): Scenario {
  const problems: string[] = [];
  const data = parseYaml(text);
  const scenario = scenarioOf(data, problems);
  if (problems.length > 0) throw scenarioError('SCENARIO_INVALID', `the scenario is invalid: ${problems.join('; ')}`);
  return scenario;
}

function scenarioOf(data: unknown, problems: string[]): Scenario {
  if (isRecord(data)) checkProperties(data, ['turns', 'variants'], '', problems);
  return { turns: turnsOf(data, '', problems), variants: variantsOf(data, problems) };
}

function variantsOf(data: unknown, problems: string[]): readonly ScenarioVariant[] {
  const { variants = [] } = isRecord(data) ? data : {};
  if (!Array.isArray(variants) || variants.length > MAX_VARIANTS) {
    problems.push(`variants: must be a list of at most ${MAX_VARIANTS}`);
    return [];
  }
  return variants.map((variant: unknown, index) => {
    const at = `variants[${index}].`;
    const { when } = isRecord(variant) ? variant : {};
    if (isRecord(variant)) checkProperties(variant, ['when', 'turns'], at, problems);
    if (typeof when !== 'string' || when.trim() === '') problems.push(`${at}when: must be words of a request`);
    return { when: String(when), turns: turnsOf(variant, at, problems) };
  });
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, uniqueKeys: true }) as unknown; // aliases can multiply without bound
  } catch (e) {
    throw scenarioError('SCENARIO_INVALID', `the scenario is no YAML: ${String(e)}`, {}, e);
  }
}

function turnsOf(data: unknown, at: string, problems: string[]): readonly ScriptedTurn[] {
  if (!isRecord(data) || !Array.isArray(data['turns']) || data['turns'].length === 0) {
    problems.push(`${at}turns: must be a list with at least one turn`);
    return [];
  }
  if (data['turns'].length > MAX_TURNS) problems.push(`${at}turns: more than ${MAX_TURNS}`);
  return data['turns'].map((turn: unknown, index) => turnOf(turn, `${at}turns[${index}]`, problems));
}

function turnOf(data: unknown, at: string, problems: string[]): ScriptedTurn {
  if (!isRecord(data)) {
    problems.push(`${at}: must have say, calls or both`);
    return AFTER_THE_LAST;
  }
  checkProperties(data, ['say', 'calls'], `${at}.`, problems);
  const { say = '', calls = [] } = data;
  if (typeof say !== 'string') problems.push(`${at}.say: must be a text`);
  if (!Array.isArray(calls) || calls.length > MAX_CALLS)
    problems.push(`${at}.calls: must be a list of at most ${MAX_CALLS}`);
  const list: readonly unknown[] = Array.isArray(calls) ? calls : [];
  if (say === '' && list.length === 0) problems.push(`${at}: must have say, calls or both`);
  return { say: String(say), calls: list.map((call, index) => callOf(call, `${at}.calls[${index}]`, problems)) };
}

function callOf(data: unknown, at: string, problems: string[]): ScriptedCall {
  const { verb, arguments: args = {} } = isRecord(data) ? data : {};
  if (isRecord(data)) checkProperties(data, ['verb', 'arguments'], `${at}.`, problems);
  if (typeof verb !== 'string' || verb === '') problems.push(`${at}.verb: must be the name of a verb`);
  if (!isRecord(args)) problems.push(`${at}.arguments: must be an object`);
  return { verb: String(verb), arguments: isRecord(args) ? args : {} };
}

function checkProperties(data: object, known: readonly string[], at: string, problems: string[]): void {
  const unknown = unknownProperty(data, known);
  if (unknown !== null) problems.push(`${at}${unknown}: no such property`);
}
