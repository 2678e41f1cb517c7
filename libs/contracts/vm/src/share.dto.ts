import { ArrayMaxSize, IsArray, IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { IsGuestPath, IsWhole } from '@inquest/contracts-base';

/** Directories that one machine can be given. */
export const MAX_SHARES = 8;
/** Links that a view names; it counts the others. */
export const MAX_NAMED_LINKS = 20;

/** An absolute path on the host that the machine runs on. */
const IsHostPath = (): PropertyDecorator => (target, key) => {
  for (const decorate of [IsString(), MaxLength(1024), Matches(/^\/[^\x00\n]*$/)]) decorate(target, key);
};

/** A directory of a machine's host that its guest may read and never write. */
export class ShareWish {
  /** Never a home, a directory of the system, or one of this platform. */
  @IsHostPath() readonly directory!: string;
  /** Where the guest has it; made when missing. */
  @IsGuestPath() readonly guestPath!: string;
}

/** A share as a machine has it, or will have it after its next reset. */
export class ShareView {
  /** Without links: the directory itself. */
  @IsHostPath() readonly directory!: string;
  @IsGuestPath() readonly guestPath!: string;
  /** The present incarnation has it. */
  @IsBoolean() readonly isAttached!: boolean;
  /** Symbolic links in it that lead out of it, when it was shared: the guest cannot follow them to the host. */
  @IsWhole(0, 1_000_000) readonly outsideLinks!: number;
  /** The first of them, relative to the directory. */
  @IsArray() @ArrayMaxSize(MAX_NAMED_LINKS) @IsString({ each: true }) readonly namedLinks!: string[];
  /** False for a directory with too many entries to look at all of them: there may be more such links. */
  @IsBoolean() readonly isFullyLookedAt!: boolean;
}
