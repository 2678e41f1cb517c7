import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

/**
 * Runs a tool when its file is the program that Node was started with, and does nothing when it is imported. Every
 * option is a string, save --json, which prints the whole result instead of a summary. Progress and errors go to
 * standard error; a failure exits with 1, wrong arguments with 64.
 *
 * @template Result
 * @param {string} moduleUrl import.meta.url of the tool
 * @param {{
 *   usage: string,
 *   required: readonly string[],
 *   run: (options: Record<string, string>, onProgress: (line: string) => void) => Promise<Result>,
 *   summary: (result: Result) => string,
 * }} tool
 * @returns {Promise<void>}
 */
export async function runCommandLine(moduleUrl, tool) {
  if (!process.argv[1] || moduleUrl !== pathToFileURL(process.argv[1]).href) return;
  const options = parse(tool);
  if (options === undefined) {
    console.error(`usage: ${tool.usage}`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const { json, ...values } = options;
  try {
    const result = await tool.run(values, (line) => console.error(line));
    console.log(json ? JSON.stringify(result) : tool.summary(result));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

function parse({ required }) {
  const options = Object.fromEntries(required.map((name) => [name, { type: 'string' }]));
  try {
    const { values } = parseArgs({ options: { ...options, json: { type: 'boolean', default: false } } });
    return required.every((name) => values[name]) ? values : undefined;
  } catch {
    return undefined;
  }
}
