import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { parse } from 'yaml';
import { parseDto } from '@inquest/config';
import { imageError } from '@inquest/contracts-image';
import { ToolPaths } from './tool-paths';
import { Recipe } from './recipe';

const RECIPE_FILE = 'recipe.yaml';
/** A recipe is a page of text; more is not read. */
const MAX_RECIPE_BYTES = 64 * 1024;

/** Recipes on disk: one folder per image below `images/`. */
@Injectable()
export class RecipesService {
  constructor(private readonly tools: ToolPaths) {}

  /** Names of all recipes, sorted. */
  async names(): Promise<string[]> {
    const entries = await readdir(this.tools.recipes, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  }

  /** Throws `IMAGE_RECIPE_UNKNOWN` (naming what there is) and `INPUT_INVALID` for a recipe file that is not one. */
  async get(name: string): Promise<Recipe> {
    const names = await this.names();
    if (!names.includes(name)) {
      throw imageError('IMAGE_RECIPE_UNKNOWN', `there is no recipe "${name}"; there are: ${names.join(', ')}`, {
        image: name,
      });
    }
    const file = path.join(this.tools.recipe(name), RECIPE_FILE);
    const { size } = await stat(file);
    if (size > MAX_RECIPE_BYTES) {
      throw imageError(
        'IMAGE_RECIPE_UNKNOWN',
        `${RECIPE_FILE} of "${name}" has ${size} bytes, more than a recipe may have`,
      );
    }
    // No aliases: a recipe needs none, and nested ones are how a small file becomes a huge one.
    return parseDto(Recipe, parse(await readFile(file, 'utf8'), { maxAliasCount: 0 }));
  }

  /** `sha256:<hex>` over every file of the recipe, by path: two versions with one digest were built from the same recipe. */
  async digest(name: string): Promise<string> {
    const root = this.tools.recipe(name);
    const hash = createHash('sha256');
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
    return `sha256:${hash.digest('hex')}`;
  }
}
