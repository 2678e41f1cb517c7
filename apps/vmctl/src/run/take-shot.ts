import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { VerbResult } from '@inquest/contracts-agent';
import { ScreenshotView } from '@inquest/contracts-vm';
import { isGeneratedId } from '@inquest/kernel';
import { printable } from '@inquest/transcript';
import type { CliContext } from '../context';
import { cliError } from '../errors';
import { EXIT } from '../exit-codes';

/** The ids of sessions begin so. */
const SESSION_PREFIX = 'ses-';
const STANDARD_OUTPUT = '-';

/**
 * Takes a picture of a machine's screen into a file, by default one named after the machine and the time; or has a
 * session take one, which is a verb that its transcript tells of. Throws what the platform answers,
 * `CLI_TARGET_UNWRITABLE` and `CLI_USAGE_INVALID`.
 */
export async function takeShot(context: CliContext, target: string, output: string | null): Promise<void> {
  const isSession = target.startsWith(SESSION_PREFIX) && isGeneratedId(target);
  if (!isSession) return ofMachine(context, target, output);
  if (output === null) return ofSession(context, target);
  throw cliError('CLI_USAGE_INVALID', 'the picture of a session goes into its transcript; name its machine for a file');
}

async function ofMachine({ gateway, printer, stdout }: CliContext, machine: string, output: string | null) {
  const route = `/v1/machines/${encodeURIComponent(machine)}/screenshot`;
  const { machineId, png } = await gateway.call(ScreenshotView, 'POST', route, { body: {} });
  const picture = Buffer.from(png, 'base64');
  if (output === STANDARD_OUTPUT) return void stdout.write(picture);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '');
  const file = path.resolve(output ?? `${machine}-${time}.png`);
  await writeFile(file, picture).catch((e: unknown) => {
    throw cliError('CLI_TARGET_UNWRITABLE', `${file} cannot be written: ${(e as Error).message}`, { path: file }, e);
  });
  printer.result({ machineId, file, sizeBytes: picture.length }, () => `${file} (${picture.length} bytes)`);
}

async function ofSession({ gateway, printer, exit }: CliContext, session: string): Promise<void> {
  const route = `/v1/sessions/${encodeURIComponent(session)}/verbs/screenshot`;
  const result = await gateway.call(VerbResult, 'POST', route, { body: { arguments: {} } });
  const isDone = result.outcome === 'ok';
  printer.result(result, () => (isDone ? printable(result.text) : `${result.outcome}: ${printable(result.text)}`));
  if (!isDone) exit(EXIT.failed);
}
