import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { IsImageName, IsListOf, IsText, IsWhole, Nullable } from '@inquest/contracts-base';

const MIB = 1024 * 1024;

/** One command that must exit 0 in the guest: a program with its arguments, or a line for its shell. */
export class RecipeCheck {
  @IsText(128, 1) readonly name!: string;
  @Nullable()
  @IsArray()
  @ArrayMaxSize(64)
  @IsString({ each: true })
  @MaxLength(1024, { each: true })
  readonly argv: string[] | null = null;
  @Nullable() @IsText(4096, 1) readonly shell: string | null = null;
}

/** Exactly one of `argv` and `shell`. */
const IsRunnable = (): PropertyDecorator =>
  ValidateBy({
    name: 'isRunnable',
    validator: {
      validate: (checks: unknown) =>
        Array.isArray(checks) &&
        (checks as RecipeCheck[]).every(({ argv, shell }) => (argv?.length ?? 0) > 0 !== (shell !== null)),
      defaultMessage: () => 'each of checks must have exactly one of argv and shell',
    },
  });

export const RECIPE_KINDS = ['script', 'root-tar'] as const;
export type RecipeKind = (typeof RECIPE_KINDS)[number];

/** `recipe.yaml`: what an image is, how it is built, and how the smoke gate proves it. Unknown keys are refused. */
export class Recipe {
  @IsImageName() readonly name!: string;
  @IsText(512, 1) readonly description!: string;
  /** What the script writes: `script`, the disk itself; `root-tar`, a tar of the root, from which the disk is made. */
  @IsIn(RECIPE_KINDS) readonly kind!: RecipeKind;
  /** The script of the recipe: `node <build> --out FILE --json`. */
  @Matches(/^[a-z][a-z0-9-]*\.mjs$/) readonly build!: string;
  /** Another recipe whose files the script uses too; null when it stands for itself. */
  @Nullable() @IsImageName() readonly base: string | null = null;
  /** Apparent size of the disk. */
  @IsWhole(16 * MIB, 1024 * 1024 * MIB) readonly sizeBytes!: number;
  /** Memory of a machine that asks for none. */
  @IsWhole(128, 1_048_576) readonly memoryMib: number = 256;
  @IsBoolean() readonly hasScreen: boolean = false;
  /** Debian packages that the build needs on the host. */
  @IsArray() @ArrayMaxSize(64) @Matches(/^[a-z0-9][a-z0-9.+-]*$/, { each: true }) readonly hostPackages: string[] = [];
  @IsArray()
  @ArrayMaxSize(32)
  @Matches(/^[A-Za-z0-9_.,=:/-]{1,256}$/, { each: true })
  readonly kernelArguments: string[] = [];
  @IsRunnable() @IsListOf(() => RecipeCheck, 32) readonly checks: RecipeCheck[] = [];
  /** The command that proves the agent command line which the image must contain; null when it needs none. */
  @Nullable() @IsText(1024) readonly requiredCli: string | null = null;
}
