import { createHash, type Hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { parse } from 'yaml';
import { parseDto } from '@inquest/config';
import { imageError } from '@inquest/contracts-image';
import { isDomainError } from '@inquest/kernel';
import { ToolPaths } from './tool-paths';
import { Recipe } from './recipe';

const RECIPE_FILE = 'recipe.yaml';
/** A recipe is a page of text; more is not read. */
const MAX_RECIPE_BYTES = 64 * 1024;

/** Recipes on disk: one folder per image below `images/`. */
@Injectable()
export class RecipesService {
  constructor(private readonly tools: ToolPaths) {}

  /** Names of all recipes, sorted; none when there is no folder of recipes. */
  async names(): Promise<string[]> {
    const entries = await readdir(this.tools.recipes, { withFileTypes: true }).catch((e: NodeJS.ErrnoException) => {
      if (e.code === 'ENOENT') return [];
      throw e;
    });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  }

  /** Throws `IMAGE_RECIPE_UNKNOWN` (naming what there is) and `IMAGE_RECIPE_INVALID` (naming what is wrong). */
  async get(name: string): Promise<Recipe> {
    const names = await this.names();
    // Only a name that was listed becomes a path.
    if (!names.includes(name)) {
      const known = names.length === 0 ? `none in ${this.tools.recipes}` : names.join(', ');
      throw imageError('IMAGE_RECIPE_UNKNOWN', `there is no recipe "${name}"; there are: ${known}`, { image: name });
    }
    const recipe = await this.read(name);
    if (recipe.name !== name) throw invalid(name, `it is a recipe for "${recipe.name}", in the folder of "${name}"`);
    return recipe;
  }

  /**
   * `sha256:<hex>` over every file of the recipe and of its base, by path: two versions with one digest were built from the
   * same recipe. Throws what `get` throws for the base.
   */
  async digest({ name, base }: Pick<Recipe, 'name' | 'base'>): Promise<string> {
    const hash = createHash('sha256');
    // A base stands for itself: one of its own is not followed.
    if (base !== null) await this.hashFiles((await this.get(base)).name, hash);
    await this.hashFiles(name, hash);
    return `sha256:${hash.digest('hex')}`;
  }

  private async hashFiles(name: string, hash: Hash): Promise<void> {
    const root = this.tools.recipe(name);
    const files = (await readdir(root, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort();
    for (const file of files) {
      hash.update(`${path.relative(root, file)}\0`);
      hash.update(
        createHash('sha256')
          .update(await readFile(file))
          .digest(),
      );
    }
  }

  private async read(name: string): Promise<Recipe> {
    const file = path.join(this.tools.recipe(name), RECIPE_FILE);
    try {
      const { size } = await stat(file);
      if (size > MAX_RECIPE_BYTES)
        throw invalid(name, `it has ${size} bytes, a recipe has ${MAX_RECIPE_BYTES} at most`);
      // No aliases: a recipe needs none, and nested ones are how a small file becomes a huge one.
      return parseDto(Recipe, parse(await readFile(file, 'utf8'), { maxAliasCount: 0 }));
    } catch (e) {
      if (isDomainError(e) && e.code === 'IMAGE_RECIPE_INVALID') throw e;
      throw invalid(name, e instanceof Error ? e.message : 'it cannot be read', e);
    }
  }
}

const invalid = (name: string, why: string, cause?: unknown) =>
  imageError('IMAGE_RECIPE_INVALID', `${RECIPE_FILE} of image ${name} is no recipe: ${why}`, { image: name }, cause);
