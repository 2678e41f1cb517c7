import { Injectable } from '@nestjs/common';
import { PROJECT_PATH, type RunArguments } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { ExecRequest, type ExecOutputView, type ExecView } from '@inquest/contracts-vm';
import { explainRefusal, guardGit } from '@inquest/git-guard';
import { VmClient } from '@inquest/vm-client';
import { refused, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** Head and tail of each output stream that the model sees; the middle is counted. */
const MODEL_OUTPUT_BYTES = 32 * 1024;
/** What the control plane may add to a command's own time limit before the call counts as lost. */
const CALL_MARGIN_MS = 30_000;

/** `run`: a command in the guest. Git commands that write are refused before anything runs. */
@Injectable()
export class RunVerb implements VerbHandler<RunArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke(args: RunArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const guarded = guardGit(args.command);
    if (guarded.write) return refused(explainRefusal(guarded));
    const result = await this.machines.exec(
      dto(ExecRequest, {
        machineId,
        command: args.command,
        cwd: args.cwd ?? PROJECT_PATH,
        timeoutMs: args.timeoutMs,
        maxOutputBytes: MODEL_OUTPUT_BYTES,
      }),
      { signal, timeoutMs: args.timeoutMs + CALL_MARGIN_MS },
    );
    return {
      outcome: result.exitCode === 0 ? 'ok' : 'failed',
      text: describeExec(result, args.timeoutMs),
      sizeBytes: result.stdout.totalBytes + result.stderr.totalBytes,
    };
  }
}

/** The result of a command as text: how it ended, then each stream that has something. */
export function describeExec(result: ExecView, timeoutMs: number): string {
  return [howItEnded(result, timeoutMs), stream('stdout', result.stdout), stream('stderr', result.stderr)]
    .filter((part) => part !== '')
    .join('\n');
}

function howItEnded(result: ExecView, timeoutMs: number): string {
  if (result.timedOut) return `timed out after ${timeoutMs} ms; it and everything it started was killed`;
  if (result.signal !== null) return `ended by ${result.signal}`;
  return `exit code ${result.exitCode}`;
}

function stream(name: string, output: ExecOutputView): string {
  if (output.totalBytes === 0) return '';
  const notes = [
    output.droppedBytes > 0 ? `${output.droppedBytes} of ${output.totalBytes} bytes left out in the middle` : '',
    output.isLossy ? 'bytes that are not UTF-8 replaced' : '',
  ].filter((note) => note !== '');
  return `${name}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}:\n${output.text}`;
}
