import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsInt, Matches } from 'class-validator';
import { IsId, IsImageName, IsListOf, IsNested, IsText, IsTimeMs, IsWhole, Nullable } from '@inquest/contracts-base';

/** Life of a version: building -> built -> smoke_ok -> frozen -> retired, or failed. `unfrozen` is the open working copy. */
export const IMAGE_STATES = ['building', 'built', 'smoke_ok', 'frozen', 'retired', 'failed', 'unfrozen'] as const;
export type ImageState = (typeof IMAGE_STATES)[number];

/** How a version came to be: built from a recipe, imported, or frozen from the working copy of its parent. */
export const IMAGE_ORIGINS = ['recipe', 'import', 'maintenance'] as const;
export type ImageOrigin = (typeof IMAGE_ORIGINS)[number];

/** `unchecked` is said where there was nothing to check; it is never reported as passed. */
export const CHECK_OUTCOMES = ['passed', 'failed', 'unchecked'] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** As vm-service has them. */
export const VERSION_TEMPLATE_STATES = ['ready', 'making', 'missing', 'outdated', 'damaged', 'unsupported'] as const;
export type VersionTemplateState = (typeof VERSION_TEMPLATE_STATES)[number];

/** Packages that are recorded of one version: a desktop has two thousand. */
export const MAX_PACKAGES = 5_000;

/** `sha256:` and 64 lower-case hex digits. */
export const IsDigest = (): PropertyDecorator => Matches(/^sha256:[0-9a-f]{64}$/);
/** The number of a version. */
export const IsVersion = (): PropertyDecorator => IsWhole(1, 1_000_000);

/** One check of the smoke gate. */
export class SmokeCheckView {
  @IsText(128) readonly name!: string;
  @IsIn(CHECK_OUTCOMES) readonly outcome!: CheckOutcome;
  @IsText(4096) readonly detail!: string;
}

/** One immutable numbered version of an image. */
export class ImageVersionView {
  @IsImageName() readonly name!: string;
  @IsVersion() readonly version!: number;
  @IsIn(IMAGE_STATES) readonly state!: ImageState;
  /** Why it is in this state, for people; empty when there is nothing to say. */
  @IsText(8192) readonly message!: string;
  /** `sha256:<hex>` of the disk; null before freeze. */
  @Nullable() @IsDigest() readonly digest!: string | null;
  /** Apparent size of the disk; null before it is built. */
  @Nullable() @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number | null;
  @IsIn(IMAGE_ORIGINS) readonly origin!: ImageOrigin;
  /** `sha256:<hex>` over the files of the recipe; empty when it was not built from one. */
  @IsText(128) readonly recipeDigest!: string;
  /** The digest that an import declared and that was checked; null when it was not imported. */
  @Nullable() @IsDigest() readonly sourceDigest!: string | null;
  @IsText(128) readonly kernelVersion!: string;
  @IsText(64) readonly agentVersion!: string;
  /** The version that this one was unfrozen from; null when it began by itself. */
  @Nullable() @IsVersion() readonly parentVersion!: number | null;
  @IsListOf(() => SmokeCheckView, 64) readonly checks!: SmokeCheckView[];
  /** How long the smoke gate took that it passed; null before, and where it was not measured. */
  @Nullable() @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly smokeMs!: number | null;
  /** How long the nodes took to make its template when it was frozen; null where none was made, or not measured. */
  @Nullable() @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly templateMs!: number | null;
  /** Its files are gone; the record of what it was stays, and its number is never used again. */
  @IsBoolean() readonly isRemoved!: boolean;
  @IsTimeMs() readonly createdAtMs!: number;
  @Nullable() @IsTimeMs() readonly frozenAtMs!: number | null;
  /** When every byte of it was last read and found to be what was frozen. */
  @Nullable() @IsTimeMs() readonly verifiedAtMs!: number | null;
}

/** One file of a version as it was recorded when it was sealed. Big numbers travel as decimal strings. */
export class SealedFileView {
  @IsText(64, 1) readonly file!: string;
  @IsDigest() readonly digest!: string;
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly sizeBytes!: number;
  @Matches(/^\d{1,20}$/) readonly inode!: string;
  @Matches(/^\d{1,20}$/) readonly mtimeNs!: string;
  @Matches(/^\d{1,20}$/) readonly ctimeNs!: string;
  /** Permission bits in octal, e.g. `0444`. */
  @Matches(/^0[0-7]{3}$/) readonly mode!: string;
  /** The kernel's own digest of a file with fs-verity; null where the file system has none. */
  @Nullable() @IsDigest() readonly verityDigest: string | null = null;
}

/** A live machine that stands on a version. */
export class ImageUserView {
  @IsId() readonly machineId!: string;
  @Nullable() @IsId() readonly name!: string | null;
  @Nullable() @IsId() readonly owner!: string | null;
  @IsText(32) readonly state!: string;
}

/** A Debian package that is installed in a version. */
export class PackageView {
  @IsText(256, 1) readonly name!: string;
  @IsText(256) readonly version!: string;
}

/** How the template of a version, for machines of the size that the image declares, stands on one node. */
export class VersionTemplateView {
  @IsId() readonly node!: string;
  /** `ready` lets machines start as clones; `unsupported` says that the node never has templates. Else they boot. */
  @IsIn(VERSION_TEMPLATE_STATES) readonly state!: VersionTemplateState;
  /** Why; empty when there is nothing to say. */
  @IsText(2048) readonly detail!: string;
}

/** Everything about one version: where it comes from, what stands on it, what it takes. */
export class ImageVersionDetail {
  @IsNested(() => ImageVersionView) readonly version!: ImageVersionView;
  /** Versions it descends from, its parent first. */
  @IsArray() @ArrayMaxSize(10_000) @IsInt({ each: true }) readonly ancestors!: number[];
  /** Versions that were unfrozen from it and whose files still exist. */
  @IsArray() @ArrayMaxSize(10_000) @IsInt({ each: true }) readonly children!: number[];
  /** Live machines on it, on all nodes that answer. */
  @IsListOf(() => ImageUserView, 500) readonly machines!: ImageUserView[];
  /** Blocks that its files occupy; less than their sizes, because disks are sparse. */
  @IsWhole(0, Number.MAX_SAFE_INTEGER) readonly diskUseBytes!: number;
  /** Debian packages in it, as found when it was frozen; empty before, and for systems without dpkg. */
  @IsListOf(() => PackageView, MAX_PACKAGES) readonly packages!: PackageView[];
  /** Why it was unfrozen from its parent; null when it was not. */
  @Nullable() @IsText(512) readonly unfreezeReason!: string | null;
  /** The record of its files; empty before freeze. */
  @IsListOf(() => SealedFileView, 16) readonly files!: SealedFileView[];
  /** On all nodes that answer; empty for a version that is not frozen. */
  @IsListOf(() => VersionTemplateView, 500) readonly templates!: VersionTemplateView[];
}
