import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { parseDto } from '@inquest/config';
import { VerbResult } from '@inquest/contracts-agent';
import { SCREENSHOT_MAX_BYTES } from '@inquest/contracts-vm';
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
 * `CLI_ANSWER_INVALID` and `CLI_TARGET_UNWRITABLE`.
 */
export async function takeShot(context: CliContext, target: string, output: string | null): Promise<void> {
  const { gateway, printer, stdout } = context;
  const isSession = target.startsWith(SESSION_PREFIX) && isGeneratedId(target);
  const route = `/v1/${isSession ? 'sessions' : 'machines'}/${encodeURIComponent(target)}/screenshot`;
  const answer = await gateway.stream('POST', route);
  const content = await boundedContent(answer);
  if (answer.headers['content-type'] !== 'image/png') {
    const { outcome, text } = verbResult(content, route);
    printer.result({ outcome, text }, () => `${outcome}: ${printable(text)}`);
    return context.exit(EXIT.failed);
  }
  if (output === STANDARD_OUTPUT) return void stdout.write(content);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '');
  const file = path.resolve(output ?? `${target}-${time}.png`);
  await writeFile(file, content).catch((e: unknown) => {
    throw cliError('CLI_TARGET_UNWRITABLE', `${file} cannot be written: ${(e as Error).message}`, { path: file }, e);
  });
  const taken = isSession ? { sessionId: target } : { machine: target };
  printer.result({ ...taken, file, sizeBytes: content.length }, () => `${file} (${content.length} bytes)`);
}

/** The whole of it before a file is begun: a picture that breaks off leaves none. */
async function boundedContent(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > SCREENSHOT_MAX_BYTES) throw cliError('CLI_ANSWER_INVALID', 'the picture is larger than any screen');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Why a session took no picture. */
function verbResult(content: Buffer, route: string): VerbResult {
  try {
    return parseDto(VerbResult, JSON.parse(content.toString('utf8')), { unknown: 'strip' });
  } catch (e) {
    throw cliError('CLI_ANSWER_INVALID', `POST ${route} was answered with something unexpected`, { path: route }, e);
  }
}
