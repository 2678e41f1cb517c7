import {
  MAX_DIFF_ITEMS,
  type FileChangeView,
  type ImageDiffView,
  type PackageChangeView,
  type PackageView,
} from '@inquest/contracts-image';
import { cutText } from '@inquest/contracts-base';
import type { ListedEntry } from './disk-listing';

const MAX_PATH_CHARS = 512;
const MAX_DETAIL_CHARS = 256;
/** What a directory's size and time say, its entries say better. */
const COMPARED_OF_DIRECTORIES: readonly (keyof ListedEntry)[] = ['mode', 'owner'];
const COMPARED: readonly (keyof ListedEntry)[] = ['mode', 'owner', 'size', 'changedAt'];
const WORDS: Readonly<Record<keyof ListedEntry, string>> = {
  mode: 'mode',
  owner: 'owner',
  size: 'size',
  changedAt: 'changed at',
};

/** What is in a version, as far as it is compared. */
export interface VersionContents {
  readonly packages: readonly PackageView[];
  readonly files: ReadonlyMap<string, ListedEntry>;
}

/** What differs between two versions, by name; cut at `MAX_DIFF_ITEMS` of each kind, and it says so. */
export function compareVersions(from: VersionContents, to: VersionContents): ImageDiffView {
  const packages = packageChanges(from.packages, to.packages);
  const files = fileChanges(from.files, to.files);
  return {
    packages: packages.slice(0, MAX_DIFF_ITEMS),
    files: files.slice(0, MAX_DIFF_ITEMS),
    isCut: packages.length > MAX_DIFF_ITEMS || files.length > MAX_DIFF_ITEMS,
  };
}

function packageChanges(from: readonly PackageView[], to: readonly PackageView[]): PackageChangeView[] {
  const [before, after] = [from, to].map((list) => new Map(list.map(({ name, version }) => [name, version])));
  return union(before, after)
    .map((name) => ({ name, from: before?.get(name) ?? null, to: after?.get(name) ?? null }))
    .filter((change) => change.from !== change.to);
}

function fileChanges(from: ReadonlyMap<string, ListedEntry>, to: ReadonlyMap<string, ListedEntry>): FileChangeView[] {
  return union(from, to).flatMap((name): FileChangeView[] => {
    const path = cutText(name, MAX_PATH_CHARS);
    const [before, after] = [from.get(name), to.get(name)];
    if (before === undefined) return [{ path, change: 'added', detail: '' }];
    if (after === undefined) return [{ path, change: 'removed', detail: '' }];
    const detail = differenceOf(before, after);
    return detail === '' ? [] : [{ path, change: 'changed', detail: cutText(detail, MAX_DETAIL_CHARS) }];
  });
}

function differenceOf(before: ListedEntry, after: ListedEntry): string {
  const areDirectories = before.mode.startsWith('4') && after.mode.startsWith('4');
  return (areDirectories ? COMPARED_OF_DIRECTORIES : COMPARED)
    .filter((property) => before[property] !== after[property])
    .map((property) => `${WORDS[property]} ${before[property]} -> ${after[property]}`)
    .join(', ');
}

const union = (
  a: ReadonlyMap<string, unknown> | undefined,
  b: ReadonlyMap<string, unknown> | undefined,
): readonly string[] => [...new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])].sort();
