import { EXIT, StandInError } from './stand-in-error.mjs';

/** Of Firecracker's arguments, those that a driver without its API has a use for. True: it takes a value. */
const KNOWN = new Map([
  ['no-api', false],
  ['config-file', true],
  ['log-path', true],
  ['level', true],
  ['id', true],
  ['version', false],
]);
/** The names that Firecracker's log levels have. */
const LEVELS = ['off', 'trace', 'debug', 'info', 'warn', 'warning', 'error'];

/**
 * Parses arguments as strictly as Firecracker does: nothing unknown, nothing twice, no value missing, no bare words.
 *
 * @param {readonly string[]} args
 * @returns {{ isVersionAsked: boolean, configFile: string }}
 * @throws {StandInError}
 */
export function parseArguments(args) {
  if (args.includes('--version')) return { isVersionAsked: true, configFile: '' };
  const given = new Map();
  for (let at = 0; at < args.length; at++) {
    const name = args[at].startsWith('--') ? args[at].slice(2) : undefined;
    if (name === undefined || !KNOWN.has(name)) throw refuse(`Found argument '${args[at]}' which wasn't expected`);
    if (given.has(name)) throw refuse(`The argument '${name}' was provided more than once`);
    const value = KNOWN.get(name) ? args[++at] : '';
    if (value === undefined || value.startsWith('--')) throw refuse(`The argument '${name}' requires a value`);
    given.set(name, value);
  }
  if (!given.has('no-api')) throw refuse("Argument 'no-api' required: this stand-in has no API");
  if (!given.has('config-file')) throw refuse("Argument 'config-file' required, but not found");
  const level = given.get('level') ?? 'error';
  if (!LEVELS.includes(level.toLowerCase()))
    throw new StandInError(`Invalid value for logger level: ${level}`, EXIT.badConfiguration);
  if (!/^[A-Za-z0-9-]{1,64}$/.test(given.get('id') ?? 'anonymous-instance')) throw refuse('Invalid instance ID');
  return { isVersionAsked: false, configFile: given.get('config-file') };
}

const refuse = (message) => new StandInError(`Arguments parsing error: ${message}`, EXIT.argumentParsing);
