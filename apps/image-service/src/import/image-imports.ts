import { PassThrough, type Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ImportDeclaration, ImportImageRequest, UploadImageRequest } from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { ImageBuilder } from '../images/image-builder';
import { ImageVersionsRepository } from '../images/image-versions.repository';
import { newVersion, VersionMaking, type VersionKey } from '../images/version-making';
import { OperationsService } from '../operations/operations.service';
import type { RecipeCheck } from '../recipes/recipe';
import { ImageImporter, type ImportJob, type ImportSource } from './image-importer';
import { ImportDirectory } from './import-directory';

/** What the smoke gate asks of a system that nobody wrote checks for. */
const IMPORT_CHECKS: readonly RecipeCheck[] = [{ name: 'commands run', argv: ['true'], shell: null }];
/** systemd without udev waits 90 s for the terminal of a getty on the console; other inits ignore the argument. */
const IMPORT_KERNEL_ARGUMENTS: readonly string[] = ['systemd.getty_auto=no'];

/** Imports: the next version of an image, made of what somebody else built. */
@Injectable()
export class ImageImports {
  constructor(
    private readonly versions: ImageVersionsRepository,
    private readonly operations: OperationsService,
    private readonly making: VersionMaking,
    private readonly builder: ImageBuilder,
    private readonly importer: ImageImporter,
    private readonly directory: ImportDirectory,
  ) {}

  /** From the import directory. Throws `IMAGE_SOURCE_UNREACHABLE`, `IMAGE_BUSY`; the rest is in the operation. */
  async import({ name, path, ...declaration }: ImportImageRequest): Promise<OperationView> {
    await this.directory.resolve(path, declaration.format === 'oci' ? 'directory' : 'file');
    return this.begin(name, declaration, { path }, new Receipt());
  }

  /**
   * From a body, which is read to its end or until it is refused. Resolves once it was received whole and has the declared
   * digest; throws `IMAGE_BUSY`, and what the import throws until then.
   */
  async upload({ name, ...declaration }: UploadImageRequest, body: Readable): Promise<OperationView> {
    const received = shield(body);
    const receipt = new Receipt();
    try {
      const { operationId } = await this.begin(name, declaration, { body: received }, receipt);
      await receipt.whole;
      return await this.operations.show({ operationId, waitMs: 0, knownStep: null });
    } finally {
      // What nobody reads any more is drained: a connection that is cut would lose the answer.
      body.unpipe(received);
      received.destroy();
      body.resume();
    }
  }

  private async begin(
    name: string,
    declaration: ImportDeclaration,
    source: ImportSource,
    receipt: Receipt,
  ): Promise<OperationView> {
    const version = await this.versions.nextNumber(name);
    return this.operations.begin('image.import', name, version, async (progress) => {
      try {
        await this.importNow({ name, version, declaration, source, progress, onReceived: () => receipt.confirm() });
      } catch (e) {
        receipt.refuse(e);
        throw e;
      }
    });
  }

  private async importNow(job: ImportJob & VersionKey): Promise<void> {
    const { name, version, declaration, progress } = job;
    const { format, digest, description, memoryMib, requiredCli } = declaration;
    const row = newVersion({
      name,
      version,
      origin: 'import',
      message: `being imported from ${format}`,
      sourceDigest: digest,
      description,
      kernelArguments: [...IMPORT_KERNEL_ARGUMENTS],
      defaultMemoryMib: memoryMib,
      hasScreen: false,
      smokeChecks: [...IMPORT_CHECKS],
      requiredCli,
    });
    await this.making.make(row, progress, async () => {
      const parts = await this.builder.make({ name, version, progress }, (disk) => this.importer.writeDisk(job, disk));
      return { state: 'built', message: `imported from ${format}`, ...parts };
    });
  }
}

/** Whether a source was received whole, for the caller who sends it. */
class Receipt {
  confirm: () => void = () => undefined;
  refuse: (e: unknown) => void = () => undefined;
  readonly whole = new Promise<void>((resolve, reject) => {
    this.confirm = resolve;
    this.refuse = reject;
  });

  constructor() {
    // An import by path has nobody who waits for it.
    this.whole.catch(() => undefined);
  }
}

/** A stream that may be destroyed without harm to the connection that feeds it. A body that breaks off is an error. */
function shield(body: Readable): PassThrough {
  const shielded = new PassThrough();
  body.once('error', (e) => shielded.destroy(e));
  body.once('close', () => {
    if (!body.readableEnded) shielded.destroy(new Error('the upload was broken off'));
  });
  // One that is never read fails for nobody.
  shielded.on('error', () => undefined);
  return body.pipe(shielded);
}
