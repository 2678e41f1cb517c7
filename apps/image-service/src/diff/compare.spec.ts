import { MAX_DIFF_ITEMS } from '@inquest/contracts-image';
import { compareVersions, type VersionContents } from './compare';
import { parsePackages } from './installed-packages';
import type { ListedEntry } from './disk-listing';

const entry = (more: Partial<ListedEntry> = {}): ListedEntry => ({
  mode: '100644',
  owner: '0:0',
  size: '10',
  changedAt: '1-Jan-2026 00:00',
  ...more,
});
const contents = (files: Record<string, ListedEntry>, packages: VersionContents['packages'] = []): VersionContents => ({
  files: new Map(Object.entries(files)),
  packages,
});

describe('compareVersions', () => {
  it('tells what was added, removed and changed, and how', () => {
    const before = contents({ '/a': entry(), '/b': entry(), '/c': entry() });
    const after = contents({ '/b': entry({ size: '12', owner: '0:5' }), '/c': entry(), '/d': entry() });
    expect(compareVersions(before, after)).toEqual({
      packages: [],
      files: [
        { path: '/a', change: 'removed', detail: '' },
        { path: '/b', change: 'changed', detail: 'owner 0:0 -> 0:5, size 10 -> 12' },
        { path: '/d', change: 'added', detail: '' },
      ],
      isCut: false,
    });
  });

  it('says nothing of a directory whose entries say it already', () => {
    const directory = entry({ mode: '40755' });
    const { files } = compareVersions(
      contents({ '/d': directory }),
      contents({ '/d': { ...directory, size: '8192' } }),
    );
    expect(files).toEqual([]);
  });

  it('tells packages that came, went and changed their version', () => {
    const pack = (name: string, version: string) => ({ name, version });
    const { packages } = compareVersions(
      contents({}, [pack('git', '1'), pack('vim', '2'), pack('zip', '3')]),
      contents({}, [pack('curl', '4'), pack('git', '1'), pack('zip', '5')]),
    );
    expect(packages).toEqual([
      { name: 'curl', from: null, to: '4' },
      { name: 'vim', from: '2', to: null },
      { name: 'zip', from: '3', to: '5' },
    ]);
  });

  it('says that it is cut where there is more than one answer carries', () => {
    const many = Object.fromEntries(Array.from({ length: MAX_DIFF_ITEMS + 1 }, (_, index) => [`/${index}`, entry()]));
    const { files, isCut } = compareVersions(contents({}), contents(many));
    expect([files.length, isCut]).toEqual([MAX_DIFF_ITEMS, true]);
  });
});

describe('parsePackages', () => {
  it('lists installed packages by name, and no others', () => {
    const status = [
      'Package: zip\nStatus: install ok installed\nVersion: 3.0-13\nDescription: x\n Version: 9',
      'Package: gone\nStatus: deinstall ok config-files\nVersion: 1',
      'Package: bash\nStatus: install ok installed\nVersion: 5.2',
      'nonsense',
      'Package: noversion\nStatus: install ok installed',
    ].join('\n\n');
    expect(parsePackages(status)).toEqual([
      { name: 'bash', version: '5.2' },
      { name: 'zip', version: '3.0-13' },
    ]);
  });
});
