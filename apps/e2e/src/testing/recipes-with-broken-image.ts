import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

const REPOSITORY = path.resolve(__dirname, '../../../..');
/** The check that no machine on the image can pass. */
export const IMPOSSIBLE_CHECK = 'the impossible is done';

/**
 * A directory of tools for image-service with the recipes `tiny` and `broken`: the same image, but its smoke gate has
 * one check more, which fails. `directory` is to be empty; returns what INQUEST_TOOLS_DIRECTORY is to be.
 */
export async function recipesWithBrokenImage(directory: string): Promise<string> {
  const tools = path.join(directory, 'tools');
  // The builders find the guest agent's source and the version beside their own directory.
  await mkdir(path.join(directory, 'apps'), { recursive: true });
  await symlink(path.join(REPOSITORY, 'apps', 'guest-agent'), path.join(directory, 'apps', 'guest-agent'));
  await cp(path.join(REPOSITORY, 'package.json'), path.join(directory, 'package.json'));
  await cp(path.join(REPOSITORY, 'tools', 'boot'), path.join(tools, 'boot'), { recursive: true });
  for (const name of ['tiny', 'broken']) {
    await cp(path.join(REPOSITORY, 'tools', 'images', 'tiny'), path.join(tools, 'images', name), { recursive: true });
  }
  const recipe = path.join(tools, 'images', 'broken', 'recipe.yaml');
  const text = (await readFile(recipe, 'utf8')).replace(/^name: tiny$/m, 'name: broken');
  await writeFile(recipe, text.replace(/^checks:$/m, `checks:\n  - name: ${IMPOSSIBLE_CHECK}\n    shell: exit 7`));
  return tools;
}
