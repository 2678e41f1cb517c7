import { invalidSource, unsafeSource } from './source-refusal';
import { treePath } from './tree-path';

/** What every entry has. */
export interface TreeAttributes {
  /** Permission, set-id and sticky bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Time of the last change, in seconds since 1970. */
  readonly mtimeS: number;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  attributes: TreeAttributes;
  readonly children: Map<string, TreeNode>;
}

/** The same node under two names is a hard link. */
export interface FileNode {
  readonly kind: 'file';
  readonly attributes: TreeAttributes;
  /** Names the bytes; they are not held here. */
  readonly content: string;
  readonly sizeBytes: number;
}

export interface SymlinkNode {
  readonly kind: 'symlink';
  readonly attributes: TreeAttributes;
  readonly target: string;
}

export type TreeNode = DirectoryNode | FileNode | SymlinkNode;

/** A link chain that is longer goes round in a circle (Linux: MAXSYMLINKS). */
const MAX_LINK_HOPS = 40;
/** PATH_MAX of Linux. */
const MAX_TARGET_BYTES = 4095;
const IMPLIED_DIRECTORY: TreeAttributes = { mode: 0o755, uid: 0, gid: 0, mtimeS: 0 };

/**
 * A root file system in memory, made entry by entry from archives that nobody trusts. Names are followed within the
 * tree only, never on the host, as the guest would follow them. Every method takes names as archives write them and
 * throws `IMAGE_SOURCE_UNSAFE` for one that leads out of the tree, `IMAGE_SOURCE_INVALID` for one that cannot be made.
 */
export class RootTree {
  readonly root: DirectoryNode = directory(IMPLIED_DIRECTORY);
  private count = 0;

  /** More than `maxEntries` entries are refused. */
  constructor(private readonly maxEntries: number) {}

  /** Entries that were added. */
  get entries(): number {
    return this.count;
  }

  /** A directory that is there keeps what is in it. */
  addDirectory(name: string, attributes: TreeAttributes): void {
    const path = treePath(name);
    const existing = path.length === 0 ? this.root : this.childOf(path);
    if (existing?.kind === 'directory') existing.attributes = attributes;
    else this.put(path, directory(attributes));
  }

  addFile(name: string, file: Omit<FileNode, 'kind'>): void {
    this.put(treePath(name), { kind: 'file', ...file });
  }

  /** The target may be anything: it is only ever followed within this tree, and by the guest. */
  addSymlink(name: string, target: string, attributes: TreeAttributes): void {
    const isValid = target !== '' && Buffer.byteLength(target) <= MAX_TARGET_BYTES && !target.includes('\0');
    if (!isValid) throw invalidSource(`the link ${JSON.stringify(name.slice(0, 200))} has no valid target`);
    this.put(treePath(name), { kind: 'symlink', attributes, target });
  }

  /** A second name for a file that the tree has already. */
  addHardLink(name: string, target: string): void {
    const node = this.childOf(treePath(target));
    if (node === undefined || node.kind === 'directory') {
      const [from, to] = [name, target].map((text) => JSON.stringify(text.slice(0, 200)));
      throw unsafeSource(`${from} is a hard link to ${to}, which is no file of the archive`);
    }
    this.put(treePath(name), node);
  }

  /** Removes an entry with all below it; nothing happens when it is not there. */
  remove(name: string): void {
    const path = treePath(name);
    const last = path.at(-1);
    if (last !== undefined) this.existingDirectory(path.slice(0, -1))?.children.delete(last);
  }

  /** Removes all that is in a directory. */
  clear(name: string): void {
    this.existingDirectory(treePath(name))?.children.clear();
  }

  /** The entry that a guest would find at an absolute path, links followed; undefined when there is none. */
  find(path: string): TreeNode | undefined {
    return this.follow(path.split('/'));
  }

  private put(path: readonly string[], node: TreeNode): void {
    const last = path.at(-1);
    if (last === undefined) throw invalidSource('the root of the archive is no directory');
    const parent = this.follow(path.slice(0, -1), () => this.impliedDirectory());
    if (parent?.kind !== 'directory') throw invalidSource(`${shownPath(path)} is below something that is no directory`);
    this.countEntry();
    parent.children.set(last, node);
  }

  private childOf(path: readonly string[]): TreeNode | undefined {
    const last = path.at(-1);
    return last === undefined ? this.root : this.existingDirectory(path.slice(0, -1))?.children.get(last);
  }

  private existingDirectory(path: readonly string[]): DirectoryNode | null {
    const node = this.follow(path);
    return node?.kind === 'directory' ? node : null;
  }

  /** What is at a path, links followed; what is missing on the way is made where `makeMissing` is given. */
  private follow(path: readonly string[], makeMissing?: () => DirectoryNode): TreeNode | undefined {
    // The way from the root: `..` goes back on it, and at the root stays there.
    let trail: DirectoryNode[] = [this.root];
    const ahead = [...path].reverse();
    for (let hops = 0, name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      const at = trail.at(-1) ?? this.root;
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (trail.length > 1) trail.pop();
        continue;
      }
      const child = at.children.get(name) ?? (makeMissing === undefined ? undefined : attach(at, name, makeMissing()));
      if (child?.kind === 'directory') trail.push(child);
      else if (child?.kind !== 'symlink') return ahead.length === 0 ? child : undefined;
      else {
        hops += 1;
        if (hops > MAX_LINK_HOPS) throw invalidSource('the archive has links that lead round in a circle');
        if (child.target.startsWith('/')) trail = [this.root];
        ahead.push(...child.target.split('/').reverse());
      }
    }
    return trail.at(-1);
  }

  private impliedDirectory(): DirectoryNode {
    this.countEntry();
    return directory(IMPLIED_DIRECTORY);
  }

  private countEntry(): void {
    this.count += 1;
    if (this.count > this.maxEntries) throw invalidSource(`the archive has more than ${this.maxEntries} entries`);
  }
}

function attach(parent: DirectoryNode, name: string, made: DirectoryNode): DirectoryNode {
  parent.children.set(name, made);
  return made;
}

const directory = (attributes: TreeAttributes): DirectoryNode => ({
  kind: 'directory',
  attributes,
  children: new Map(),
});

const shownPath = (path: readonly string[]): string => JSON.stringify(path.join('/').slice(0, 200));
