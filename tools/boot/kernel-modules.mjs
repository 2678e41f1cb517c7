import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { compressionOf, unpack } from './compression.mjs';
import { isElf, readSection } from './elf.mjs';
import { BootToolError } from './run-tool.mjs';

/** Module files end with .ko, and with the name of a compression where the distribution compresses them. */
const MODULE_FILE = /^(?<name>.+)\.ko(?:\.(?:xz|zst|gz))?$/;

/** The kernel takes - and _ in the names of modules for the same. */
const normalise = (name) => name.replaceAll('-', '_');

/**
 * The modules of one unpacked kernel package, with their dependencies taken from the modules themselves: a package
 * that was not installed has no modules.dep.
 */
export class KernelModules {
  #files;
  #builtin;
  #loaded = new Map();

  /**
   * @param {Map<string, string>} files paths by normalised name
   * @param {Set<string>} builtin normalised names
   */
  constructor(files, builtin) {
    this.#files = files;
    this.#builtin = builtin;
  }

  /**
   * Reads which modules a directory has.
   *
   * @param {string} directory lib/modules/<release> of the unpacked package
   * @returns {Promise<KernelModules>}
   */
  static async scan(directory) {
    const files = new Map();
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      const name = entry.isFile() ? MODULE_FILE.exec(entry.name)?.groups?.name : undefined;
      if (name !== undefined) files.set(normalise(name), path.join(entry.parentPath ?? entry.path, entry.name));
    }
    const list = await readFile(path.join(directory, 'modules.builtin'), 'utf8');
    const builtin = list
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => normalise(path.basename(line, '.ko')));
    return new KernelModules(files, new Set(builtin));
  }

  /**
   * Says whether the kernel has a module, as a file or built in.
   *
   * @param {string} name
   * @returns {boolean}
   */
  has(name) {
    return this.#files.has(normalise(name)) || this.#builtin.has(normalise(name));
  }

  /**
   * Lists a module and all it depends on, in the order to load them, without those that are built in.
   *
   * @param {string} name
   * @returns {Promise<{ name: string, content: Buffer }[]>}
   * @throws {BootToolError} when the kernel has no such module, or one that it depends on
   */
  async closure(name) {
    const order = new Map();
    await this.#visit(normalise(name), order);
    return [...order.values()];
  }

  async #visit(name, order) {
    if (order.has(name) || this.#builtin.has(name)) return;
    const module = await this.#load(name);
    for (const dependency of module.dependencies) await this.#visit(dependency, order);
    order.set(name, { name, content: module.content });
  }

  async #load(name) {
    const known = this.#loaded.get(name);
    if (known) return known;
    const file = this.#files.get(name);
    if (!file) {
      throw new BootToolError(
        `The kernel package has no module ${name}`,
        'Use the full kernel of the distribution, not its cloud or minimal one.',
      );
    }
    const stored = await readFile(file);
    const content = compressionOf(stored) ? await unpack(stored, file) : stored;
    const module = { content, dependencies: dependenciesOf(content, file) };
    this.#loaded.set(name, module);
    return module;
  }
}

function dependenciesOf(content, file) {
  const info = isElf(content) ? readSection(content, '.modinfo') : undefined;
  if (!info) {
    throw new BootToolError(`${file} is no kernel module`, 'Remove the cached package and run this again.');
  }
  const entry = info
    .toString('latin1')
    .split('\0')
    .find((line) => line.startsWith('depends='));
  const names = (entry ?? 'depends=').slice('depends='.length);
  return names === '' ? [] : names.split(',').map(normalise);
}
