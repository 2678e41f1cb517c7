import path from 'node:path';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ImportDeclaration } from '@inquest/contracts-image';
import { assertNever } from '@inquest/kernel';
import { ImageServiceConfig } from '../image-service.config';
import type { OperationProgress } from '../operations/operations.service';
import { ToolPaths } from '../recipes/tool-paths';
import { convertQcow2, settleExtFile, settleRawDisk } from './disk-converter';
import { ImportDirectory } from './import-directory';
import { unpackOciLayout } from './oci-upload';
import { diskOfOciLayout, diskOfTar } from './root-import';
import { takeIn } from './take-in';
import { withWorkDirectory } from './work-directory';

/** Where the bytes of an import come from: a path below the import directory, or the body of an upload. */
export type ImportSource = { readonly path: string } | { readonly body: Readable };

/** One import on its way. */
export interface ImportJob {
  readonly declaration: ImportDeclaration;
  readonly source: ImportSource;
  readonly progress: OperationProgress;
  /** Called once the source is here and its digest is right, or when it is read from the import directory. */
  readonly onReceived: () => void;
}

/** Turns what somebody else made into a raw ext4 disk, trusting nothing of it. */
@Injectable()
export class ImageImporter {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly tools: ToolPaths,
    private readonly directory: ImportDirectory,
  ) {}

  /**
   * Writes the disk. The source is copied first, its digest checked on the way, and only the copy is worked on: whatever
   * happens to the source meanwhile, what was checked is what is used. Throws the `IMAGE_SOURCE_*` errors.
   */
  async writeDisk(job: ImportJob, disk: string): Promise<void> {
    await withWorkDirectory(this.tools.workRoot, async (workDirectory) => {
      if (job.declaration.format === 'oci') await this.writeOci(job, workDirectory, disk);
      else await this.writeFile(job, workDirectory, disk);
    });
  }

  private async writeFile(
    { declaration, source, progress, onReceived }: ImportJob,
    workDirectory: string,
    disk: string,
  ) {
    const { format, digest, diskBytes } = declaration;
    const options = { maxBytes: this.config.imageMaxBytes, signal: progress.signal };
    const copy = path.join(workDirectory, 'source');
    await progress.step('receive the source and check its digest', 10);
    await takeIn(await this.bytesOf(source), copy, { ...options, digest });
    onReceived();
    await progress.step(`turn the ${format} into a disk`, 40);
    switch (format) {
      case 'qcow2': {
        const raw = path.join(workDirectory, 'raw');
        await convertQcow2(copy, raw, options);
        return settleRawDisk(raw, disk, options);
      }
      case 'raw':
        return settleRawDisk(copy, disk, options);
      case 'ext4':
        return settleExtFile(copy, disk, options);
      case 'tar':
        return diskOfTar(copy, disk, { ...options, workDirectory, diskBytes });
      case 'oci':
        throw new TypeError('an OCI layout is no single file');
      default:
        return assertNever(format);
    }
  }

  private async writeOci(
    { declaration, source, progress, onReceived }: ImportJob,
    workDirectory: string,
    disk: string,
  ) {
    const { digest, diskBytes } = declaration;
    const options = { maxBytes: this.config.imageMaxBytes, signal: progress.signal };
    await progress.step('receive the OCI layout', 10);
    let layout = path.join(workDirectory, 'layout');
    if ('path' in source) layout = await this.directory.resolve(source.path, 'directory');
    else await unpackOciLayout(source.body, layout, options);
    onReceived();
    await progress.step('lay the layers over one another', 30);
    await diskOfOciLayout(layout, digest, disk, { ...options, workDirectory, diskBytes });
  }

  private async bytesOf(source: ImportSource): Promise<Readable> {
    if ('body' in source) return source.body;
    return (await this.directory.open(source.path)).createReadStream();
  }
}
