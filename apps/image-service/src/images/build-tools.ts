import path from 'node:path';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { parseDto } from '@inquest/config';
import { imageError } from '@inquest/contracts-image';
import { isDomainError, type DomainError, type DtoClass } from '@inquest/kernel';
import { openCommand } from '@inquest/process';
import { ImageServiceConfig } from '../image-service.config';
import type { OperationProgress } from '../operations/operations.service';
import { BuildDirectories } from './build-directories';
import { VersionLog } from './version-log';

/** What a build program prints besides its log: a line of JSON. */
const MAX_OUTPUT_BYTES = 64 * 1024;

/** One version on its way. */
export interface BuildJob {
  readonly name: string;
  readonly version: number;
  readonly progress: OperationProgress;
}

/** Runs the programs that build parts of a version: scripts of Node.js that print JSON and tell their progress on stderr. */
@Injectable()
export class BuildTools {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly log: VersionLog,
    private readonly directories: BuildDirectories,
  ) {}

  /**
   * One program to its end; what it says goes into the version's log as it comes, and what it puts into its directory for
   * temporary files is gone when this is done, however it ended. Throws `IMAGE_BUILD_FAILED`, naming the
   * program and the end of what it printed.
   */
  run<T extends object>(job: BuildJob, Output: DtoClass<T>, script: string, args: readonly string[]): Promise<T> {
    return this.directories.use((directory) => this.runIn(directory, job, Output, script, args));
  }

  private async runIn<T extends object>(
    directory: string,
    job: BuildJob,
    Output: DtoClass<T>,
    script: string,
    args: readonly string[],
  ): Promise<T> {
    const { name, version, progress } = job;
    const tool = path.basename(script);
    await this.log.append(name, version, `== ${tool}\n`);
    try {
      // Nobody would take its result once this process was killed, or stop it.
      const bound = ['--pdeathsig', 'KILL', '--', process.execPath];
      const command = await openCommand('setpriv', [...bound, script, ...args, '--json'], {
        timeoutMs: this.config.buildTimeoutMs,
        env: { TMPDIR: directory },
        signal: progress.signal,
        onStderr: (chunk) => void this.log.append(name, version, chunk),
      });
      command.stdin.end();
      const [output] = await Promise.all([boundedText(command.stdout), command.finished]);
      return parseDto(Output, JSON.parse(output), { unknown: 'strip' });
    } catch (e) {
      progress.signal.throwIfAborted();
      throw buildFailed(
        job,
        tool,
        isDomainError(e) || e instanceof SyntaxError ? e.message : 'an unexpected failure',
        e,
      );
    }
  }
}

/** `IMAGE_BUILD_FAILED` of one step. */
export function buildFailed({ name, version }: BuildJob, tool: string, why: string, cause: unknown): DomainError {
  const message = `image ${name}:${version}: ${tool}: ${why}`;
  return imageError('IMAGE_BUILD_FAILED', message, { image: name, version, tool }, cause);
}

/** Reads to the end, because a program stops at a full pipe, and keeps the front. */
async function boundedText(output: Readable): Promise<string> {
  const kept: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of output as AsyncIterable<Uint8Array>) {
    if (sizeBytes < MAX_OUTPUT_BYTES) kept.push(chunk);
    sizeBytes += chunk.length;
  }
  return Buffer.concat(kept).toString('utf8');
}
