import { Injectable } from '@nestjs/common';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { cutText } from '@inquest/contracts-base';
import { toDomainError } from '@inquest/kernel';
import type { OperationProgress } from '../operations/operations.service';
import type { Recipe } from '../recipes/recipe';
import type { ImageVersionEntity } from './image-version.entity';
import { ImageVersionsRepository } from './image-versions.repository';
import { VersionLog } from './version-log';

export type VersionKey = Pick<ImageVersionEntity, 'name' | 'version'>;

/** `ImageVersionView.message` takes no more. */
const MAX_MESSAGE_CHARS = 8_192;
/** Logs of failed and removed versions that an image keeps, the newest: at most 320 MiB. */
const KEPT_LOGS = 20;
/** Each version that is made removes one; a few more make up for what a kill left. */
const REMOVED_AT_ONCE = 3;

/** The row of a version while it is made: there from the first step on, and `failed` with its log when one fails. */
@Injectable()
export class VersionMaking {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly logs: VersionLog,
  ) {}

  /** The oldest logs of what ended go. Throws `IMAGE_BUSY` when the number was taken meanwhile, and what `work` throws. */
  async make(
    row: ImageVersionEntity,
    progress: OperationProgress,
    work: () => Promise<QueryDeepPartialEntity<ImageVersionEntity>>,
  ): Promise<void> {
    await this.versions.insert(row);
    await this.boundLogs(row.name);
    try {
      await this.versions.change(row, progress.operationId, await work());
    } catch (e) {
      await this.fail(row, progress, e);
      throw e;
    }
  }

  /** A build that fails every night must not fill the disk with logs. Those of versions that can be used all stay. */
  private async boundLogs(name: string): Promise<void> {
    const ended = (await this.versions.of(name)).filter(({ state, isRemoved }) => isRemoved || state === 'failed');
    for (const { version } of ended.slice(KEPT_LOGS, KEPT_LOGS + REMOVED_AT_ONCE))
      await this.logs.remove(name, version);
  }

  /** Marks a version as failed, with the reason in its row and its log. */
  async fail(key: VersionKey, progress: OperationProgress, e: unknown): Promise<void> {
    const { message } = toDomainError(progress.signal.aborted ? progress.signal.reason : e);
    await this.logs.append(key.name, key.version, `failed: ${message}\n`);
    const failed = { state: 'failed', message: cutText(message, MAX_MESSAGE_CHARS) } as const;
    await this.versions.change(key, progress.operationId, failed);
  }
}

/** What a machine on a version is started with and what the smoke gate runs, as a recipe has it. */
export const settingsOf = ({ description, kernelArguments, memoryMib, hasScreen, checks, requiredCli }: Recipe) => ({
  description,
  kernelArguments: [...kernelArguments],
  defaultMemoryMib: memoryMib,
  hasScreen,
  smokeChecks: [...checks],
  requiredCli,
});

/** The row of a version that is about to be made. */
export const newVersion = (
  known: VersionKey &
    Pick<ImageVersionEntity, 'origin' | 'message'> &
    ReturnType<typeof settingsOf> &
    Partial<ImageVersionEntity>,
): ImageVersionEntity => ({
  state: 'building',
  digest: null,
  sizeBytes: null,
  recipeDigest: '',
  sourceDigest: null,
  unfreezeReason: null,
  kernelVersion: '',
  agentVersion: '',
  parentVersion: null,
  checks: [],
  smokeMs: null,
  templateMs: null,
  sealedFiles: [],
  packages: [],
  isRemoved: false,
  createdAt: new Date(),
  frozenAt: null,
  verifiedAt: null,
  ...known,
});
