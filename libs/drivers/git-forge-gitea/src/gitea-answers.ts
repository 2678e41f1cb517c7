import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';

// The properties that are used of Gitea's API document (templates/swagger/v1_json.tmpl in its sources), under its names.
// What else an answer has is dropped, so that newer versions may say more.

// Gitea's modules/validation: AlphaDashDot, at most 100 characters; names of users and repositories.
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/;
const COMMIT = /^[0-9a-f]{40}$/;
const MAX_TEXT_LENGTH = 200_000;

/** A user or an organization. */
export class UserAnswer {
  @Matches(NAME)
  readonly login!: string;
}

export class VersionAnswer {
  @IsString()
  @MaxLength(100)
  readonly version!: string;
}

/** What the token may do with a repository. */
export class PermissionAnswer {
  @IsBoolean()
  readonly push!: boolean;
}

export class RepositoryAnswer {
  @IsInt()
  @Min(1)
  readonly id!: number;
  @Matches(NAME)
  readonly name!: string;
  @IsDefined()
  @ValidateNested()
  @Type(() => UserAnswer)
  readonly owner!: UserAnswer;
  @IsBoolean()
  readonly archived!: boolean;
  @IsBoolean()
  readonly mirror!: boolean;
  @IsOptional()
  @ValidateNested()
  @Type(() => PermissionAnswer)
  readonly permissions?: PermissionAnswer;
}

export class BranchCommitAnswer {
  @Matches(COMMIT)
  readonly id!: string;
}

export class BranchAnswer {
  @IsDefined()
  @ValidateNested()
  @Type(() => BranchCommitAnswer)
  readonly commit!: BranchCommitAnswer;
}

export class TagCommitAnswer {
  @Matches(COMMIT)
  readonly sha!: string;
}

export class TagAnswer {
  @IsDefined()
  @ValidateNested()
  @Type(() => TagCommitAnswer)
  readonly commit!: TagCommitAnswer;
}

/** One end of a pull request. */
export class PullRequestBranchAnswer {
  /** The branch; once that is deleted, a ref of the pull request's own. */
  @IsString()
  @MaxLength(1000)
  readonly ref!: string;
  /** The branch, also when it is deleted. */
  @IsString()
  @MaxLength(1000)
  readonly label!: string;
  @IsInt()
  readonly repo_id!: number;
}

export class PullRequestAnswer {
  @IsInt()
  @Min(1)
  readonly number!: number;
  @IsIn(['open', 'closed'])
  readonly state!: string;
  @IsBoolean()
  readonly merged!: boolean;
  @IsString()
  @MaxLength(1000)
  readonly title!: string;
  @IsString()
  @MaxLength(MAX_TEXT_LENGTH)
  readonly body!: string;
  @IsDefined()
  @ValidateNested()
  @Type(() => PullRequestBranchAnswer)
  readonly head!: PullRequestBranchAnswer;
  @IsDefined()
  @ValidateNested()
  @Type(() => PullRequestBranchAnswer)
  readonly base!: PullRequestBranchAnswer;
}

/** A file of a release. */
export class AttachmentAnswer {
  @IsInt()
  @Min(1)
  readonly id!: number;
  @IsString()
  @MaxLength(1000)
  readonly name!: string;
  @IsInt()
  @Min(0)
  readonly size!: number;
}

export class ReleaseAnswer {
  @IsInt()
  @Min(1)
  readonly id!: number;
  @IsString()
  @MaxLength(1000)
  readonly tag_name!: string;
  @IsString()
  @MaxLength(1000)
  readonly target_commitish!: string;
  @IsBoolean()
  readonly draft!: boolean;
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => AttachmentAnswer)
  readonly assets!: AttachmentAnswer[];
}

export class TopicsAnswer {
  @IsArray()
  @IsString({ each: true })
  @MaxLength(100, { each: true })
  readonly topics!: string[];
}
