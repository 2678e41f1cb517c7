import { imageError } from '@inquest/contracts-image';
import { runDebugfs } from './debugfs';

/** What can be told of an entry without reading it. */
export interface ListedEntry {
  /** Type and permission bits, octal. */
  readonly mode: string;
  readonly owner: string;
  readonly size: string;
  /** To the minute. */
  readonly changedAt: string;
}

/** `  inode   mode (type)   uid   gid   size date time name`, as `ls -l` of debugfs prints it. */
const ENTRY = /^\s*(\d+)\s+(\d+) \(\d+\)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+ \S+) (.*)$/;
const COMMAND = /^debugfs: *ls -l <(\d+)>$/;
const ROOT_INODE = 2;
/** Format bits of a directory's mode, octal digits. */
const DIRECTORY_MODE = /^4\d{4}$/;
/** Four times a desktop. */
const MAX_ENTRIES = 1_000_000;
/** The deepest tree that is followed; PATH_MAX allows 2048 levels and nobody has fifty. */
const MAX_LEVELS = 128;

/**
 * Every entry of an ext4 disk by its path, level by level. A disk may be hostile: a directory is visited once, and what
 * does not look like an entry is left out. Throws `IMAGE_FILE_SYSTEM_DAMAGED` for more than `MAX_ENTRIES`, and
 * `PROCESS_FAILED`.
 */
export async function listDisk(
  disk: string,
  workDirectory: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ListedEntry>> {
  const entries = new Map<string, ListedEntry>();
  const visited = new Set<number>([ROOT_INODE]);
  let level = new Map<number, string>([[ROOT_INODE, '']]);
  for (let depth = 0; level.size > 0 && depth < MAX_LEVELS; depth += 1) {
    const reader = new LevelReader(level, entries, visited);
    const commands = [...level.keys()].map((inode) => `ls -l <${inode}>`);
    await runDebugfs(disk, commands, workDirectory, { onLine: (line) => reader.read(line), signal });
    level = reader.below;
  }
  return entries;
}

/** What debugfs prints of the directories of one level. */
class LevelReader {
  /** Directories found, by inode, with their paths. */
  readonly below = new Map<number, string>();
  private directory: string | undefined;

  constructor(
    private readonly level: ReadonlyMap<number, string>,
    private readonly entries: Map<string, ListedEntry>,
    private readonly visited: Set<number>,
  ) {}

  read(line: string): void {
    const command = COMMAND.exec(line);
    if (command) {
      this.directory = this.level.get(Number(command[1]));
      return;
    }
    const [, inode, mode = '', uid = '', gid = '', size = '', changedAt = '', name = ''] = ENTRY.exec(line) ?? [];
    if (this.directory === undefined || inode === undefined || name === '' || name === '.' || name === '..') return;
    this.add(`${this.directory}/${name}`, Number(inode), { mode, owner: `${uid}:${gid}`, size, changedAt });
  }

  private add(path: string, inode: number, entry: ListedEntry): void {
    if (this.entries.size >= MAX_ENTRIES)
      throw imageError('IMAGE_FILE_SYSTEM_DAMAGED', `the disk has more than ${MAX_ENTRIES} entries`);
    this.entries.set(path, entry);
    if (!DIRECTORY_MODE.test(entry.mode) || this.visited.has(inode)) return;
    this.visited.add(inode);
    this.below.set(inode, path);
  }
}
