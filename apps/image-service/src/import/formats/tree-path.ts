import { unsafeSource, invalidSource } from './source-refusal';

/** NAME_MAX of Linux. */
const MAX_NAME_BYTES = 255;
/** Room for every path of a distribution; what writes the file system takes lines of 8 KiB. */
const MAX_PATH_BYTES = 2048;
const MAX_DEPTH = 128;

/**
 * The components of a name in an archive; empty for the root itself. Throws `IMAGE_SOURCE_UNSAFE` for an absolute one or
 * one that climbs, `IMAGE_SOURCE_INVALID` for one that no tool agrees on how to write.
 */
export function treePath(name: string): readonly string[] {
  const shown = JSON.stringify(name.slice(0, 200));
  if (name.startsWith('/')) throw unsafeSource(`the archive has the absolute path ${shown}`);
  const components = name.split('/').filter((component) => component !== '' && component !== '.');
  if (components.includes('..')) throw unsafeSource(`the archive has the path ${shown}, which leads out of it`);
  const isTooLong = Buffer.byteLength(name) > MAX_PATH_BYTES || components.length > MAX_DEPTH;
  if (isTooLong || components.some((component) => Buffer.byteLength(component) > MAX_NAME_BYTES))
    throw invalidSource(`the path ${shown} is too long`);
  // U+FFFD is what a name became that is not UTF-8; control characters would end a line of a script.
  if (/[\x00-\x1f\x7f\ufffd]/.test(name))
    throw invalidSource(`the path ${shown} has control characters or is not UTF-8`);
  return components;
}
