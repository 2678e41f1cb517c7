import { IsIn } from 'class-validator';
import { IsImageName, IsText, IsWhole, Nullable } from '@inquest/contracts-base';
import { IsDigest, IsVersion } from './image-version.dto';

/**
 * What an import may be made of: a qcow2 disk, a raw disk (with or without partitions), an ext4 file system, a tar of a
 * root (plain or gzip), or an OCI layout (a directory; as an upload, the tar of one).
 */
export const IMPORT_FORMATS = ['qcow2', 'raw', 'ext4', 'tar', 'oci'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** What an import declares, whichever way its bytes come. */
export class ImportDeclaration {
  @IsIn(IMPORT_FORMATS) readonly format!: ImportFormat;
  /** `sha256:<hex>` of the source as it is sent; of an OCI layout, the digest of the image's manifest. */
  @IsDigest() readonly digest!: string;
  @IsText(512) readonly description: string = '';
  /** Size of the disk that is made of a tar or an OCI layout; null leaves room beside what is in it. Disks keep theirs. */
  @Nullable() @IsWhole(16 * 1024 * 1024, Number.MAX_SAFE_INTEGER) readonly diskBytes: number | null = null;
  /** Memory of a machine that asks for none, MiB. */
  @IsWhole(128, 1_048_576) readonly memoryMib: number = 256;
  /** The command that proves the agent command line which the image must contain; null when it needs none. */
  @Nullable() @IsText(1024, 1) readonly requiredCli: string | null = null;
}

/** An import whose bytes are sent to the stream that the answer names. */
export class UploadImageRequest extends ImportDeclaration {
  @IsImageName() readonly name!: string;
}

/** An import from the import directory of image-service. */
export class ImportImageRequest extends UploadImageRequest {
  /** Of the source, relative to the import directory or absolute inside it. */
  @IsText(4096, 1) readonly path!: string;
}

/** Opens a working copy of a frozen version. */
export class UnfreezeRequest {
  @IsImageName() readonly name!: string;
  /** Null means the newest frozen version. */
  @Nullable() @IsVersion() readonly version: number | null = null;
  /** Why, for the people who see the image unfrozen. */
  @IsText(512, 1) readonly reason!: string;
}

/** One version, named exactly: nothing that ends a version's life guesses which. */
export class NamedVersionRequest {
  @IsImageName() readonly name!: string;
  @IsVersion() readonly version!: number;
}
