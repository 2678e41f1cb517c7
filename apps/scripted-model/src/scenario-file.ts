import { readFile, stat } from 'node:fs/promises';
import { scenarioError } from './errors';
import { parseScenario, type Scenario } from './scenario';

const MAX_SCENARIO_BYTES = 1024 * 1024;

/** Reads a scenario file. Throws `SCENARIO_UNREADABLE` or `SCENARIO_INVALID`. */
export async function readScenario(path: string): Promise<Scenario> {
  return parseScenario(await readText(path));
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_SCENARIO_BYTES) return await readFile(path, 'utf8');
  } catch (e) {
    throw scenarioError('SCENARIO_UNREADABLE', `the scenario ${path} cannot be read`, { path }, e);
  }
  throw scenarioError('SCENARIO_UNREADABLE', `the scenario ${path} is longer than ${MAX_SCENARIO_BYTES} bytes`, {
    path,
  });
}
