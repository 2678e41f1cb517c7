import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir, type TempDir } from '@inquest/testing';
import type { ImageServiceConfig } from '../image-service.config';
import { TINY_RECIPE, ToolsDirectory } from '../testing/tools-directory';
import { RecipesService } from './recipes.service';
import { ToolPaths } from './tool-paths';

const withLine = (line: string): string => `${TINY_RECIPE}${line}\n`;
const without = (property: string): string => TINY_RECIPE.replace(new RegExp(`^${property}:.*$`, 'm'), '');

describe('recipes', () => {
  let directory: TempDir;
  let tools: ToolsDirectory;
  let recipes: RecipesService;

  beforeEach(async () => {
    directory = await tempDir('recipes');
    tools = new ToolsDirectory(path.join(directory.path, 'tools'));
    recipes = new RecipesService(new ToolPaths({ toolsDirectory: tools.directory } as ImageServiceConfig));
  });
  afterEach(() => directory.remove());

  it('are read with their defaults', async () => {
    await tools.create();
    await expect(recipes.names()).resolves.toEqual(['tiny']);
    await expect(recipes.get('tiny')).resolves.toMatchObject({
      name: 'tiny',
      memoryMib: 128,
      hasScreen: false,
      hostPackages: [],
      kernelArguments: ['quiet'],
      requiredCli: null,
      checks: [
        { name: 'commands run', argv: ['true'], shell: null },
        { name: 'the shell quotes', argv: null, shell: 'echo "it\'s"' },
      ],
    });
  });

  it('are none where there is no directory of them, and the refusal says where it looked', async () => {
    await expect(recipes.names()).resolves.toEqual([]);
    await expect(recipes.get('tiny')).rejects.toMatchObject({
      code: 'IMAGE_RECIPE_UNKNOWN',
      message: expect.stringContaining(path.join(tools.directory, 'images')),
    });
  });

  it.each(['nope', '..', '../boot', '/etc'])(
    'are not found by the name %j, and those that are get named',
    async (name) => {
      await tools.create();
      await expect(recipes.get(name)).rejects.toMatchObject({
        code: 'IMAGE_RECIPE_UNKNOWN',
        message: expect.stringContaining('tiny'),
      });
    },
  );

  it.each([
    ['no YAML', 'name: [', /recipe.yaml of image tiny/],
    ['an empty file', '', /no recipe/],
    ['a list', '- a', /no recipe/],
    ['an unknown key', withLine('surplus: 1'), /surplus/],
    ['no build script', without('build'), /build/],
    ['a build script elsewhere', TINY_RECIPE.replace('build.mjs', '../../evil.mjs'), /build/],
    ['an option as kernel argument', TINY_RECIPE.replace('[quiet]', "['a b']"), /kernelArguments/],
    ['a check with both forms', withLine("  - {name: x, argv: ['true'], shell: 'true'}"), /argv and shell/],
    ['a check with neither form', withLine('  - {name: x}'), /argv and shell/],
    ['too small a disk', TINY_RECIPE.replace('16777216', '1'), /sizeBytes/],
    ['the name of another image', TINY_RECIPE.replace('name: tiny', 'name: debian'), /"debian".*"tiny"/],
    ['aliases', TINY_RECIPE.replace('[quiet]', '&a [quiet]').replace("['true']", '*a'), /alias/i],
    ['more than a page', withLine(`# ${'x'.repeat(70_000)}`), /bytes/],
  ])('are refused with %s', async (_what, yaml, message) => {
    await tools.writeRecipe('tiny', yaml);
    await expect(recipes.get('tiny')).rejects.toMatchObject({
      code: 'IMAGE_RECIPE_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('have a digest that changes with every file and every name of one', async () => {
    await tools.create();
    const before = await recipes.digest({ name: 'tiny', base: null });
    expect(before).toMatch(/^sha256:[0-9a-f]{64}$/);
    await expect(recipes.digest({ name: 'tiny', base: null })).resolves.toBe(before);
    await writeFile(tools.fileOf('tiny', 'extra'), '');
    const more = await recipes.digest({ name: 'tiny', base: null });
    await writeFile(tools.fileOf('tiny', 'extra'), 'x');
    await tools.writeRecipe('base', 'name: base');
    await expect(recipes.digest({ name: 'tiny', base: 'base' })).rejects.toMatchObject({
      code: 'IMAGE_RECIPE_INVALID',
    });
    expect(new Set([before, more, await recipes.digest({ name: 'tiny', base: null })]).size).toBe(3);
  });

  it('of this repository can all be read, and only that of a desktop has a screen', async () => {
    const shipped = new RecipesService(new ToolPaths({} as ImageServiceConfig));
    const names = await shipped.names();
    expect(names).toEqual(['agent-cli', 'debian', 'desktop', 'tiny']);
    const read = await Promise.all(names.map((name) => shipped.get(name)));
    expect(read.filter(({ hasScreen }) => hasScreen).map(({ name }) => name)).toEqual(['desktop']);
    expect(read.filter(({ requiredCli }) => requiredCli !== null).map(({ name }) => name)).toEqual(['agent-cli']);
  });
});
