import { IsBoolean, IsIn } from 'class-validator';
import { IsImageName, IsListOf, IsText, Nullable } from '@inquest/contracts-base';
import { IsVersion } from './image-version.dto';

/** Changes of one kind that one answer carries; what is left out is said. */
export const MAX_DIFF_ITEMS = 1_000;

/** Two versions of an image. */
export class ImageDiffRequest {
  @IsImageName() readonly name!: string;
  @IsVersion() readonly from!: number;
  @IsVersion() readonly to!: number;
}

export const FILE_CHANGES = ['added', 'removed', 'changed'] as const;
export type FileChange = (typeof FILE_CHANGES)[number];

/** A Debian package whose version differs; null on the side that does not have it. */
export class PackageChangeView {
  @IsText(256, 1) readonly name!: string;
  @Nullable() @IsText(256) readonly from!: string | null;
  @Nullable() @IsText(256) readonly to!: string | null;
}

/** A file, directory or link that differs. */
export class FileChangeView {
  /** Cut where it is longer than this field takes. */
  @IsText(512) readonly path!: string;
  @IsIn(FILE_CHANGES) readonly change!: FileChange;
  /** What differs, e.g. `size 10 -> 12`; empty for what was added or removed. */
  @IsText(256) readonly detail!: string;
}

/** What differs between two versions. Files are compared by kind, mode, owner, size and time of change to the minute. */
export class ImageDiffView {
  @IsListOf(() => PackageChangeView, MAX_DIFF_ITEMS) readonly packages!: PackageChangeView[];
  @IsListOf(() => FileChangeView, MAX_DIFF_ITEMS) readonly files!: FileChangeView[];
  /** There are more changes than were listed. */
  @IsBoolean() readonly isCut!: boolean;
}
