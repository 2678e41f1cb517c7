import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasPrograms, isStaticExecutable } from './host-programs.mjs';
import { areNodeModulesCurrent } from './node-modules.mjs';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'inquest-setup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The first bytes of an ELF64 program with program headers of these types, elf(5). */
function elf(types: readonly number[]): Buffer {
  const header = Buffer.alloc(64 + types.length * 56);
  header.write('\x7fELF', 'latin1');
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(types.length, 56);
  types.forEach((type, at) => header.writeUInt32LE(type, 64 + at * 56));
  return header;
}

describe('isStaticExecutable', () => {
  it.each([
    ['a program without a loader', elf([1, 1]), 0o755, true],
    ['a program that asks for a loader', elf([6, 3, 1]), 0o755, false],
    ['a script', Buffer.from('#!/bin/sh\n'), 0o755, false],
    ['a file that is not executable', elf([1]), 0o600, false],
  ])('judges %s', (_, content, mode, isStatic) => {
    const file = path.join(root, 'program');
    writeFileSync(file, content, { mode });
    expect(isStaticExecutable(file)).toBe(isStatic);
  });

  it('is false for what does not exist', () => {
    expect(isStaticExecutable(path.join(root, 'absent'))).toBe(false);
  });
});

describe('hasPrograms', () => {
  it('finds programs by name', () => {
    expect(hasPrograms('sh')).toBe(true);
    expect(hasPrograms('sh', 'no-such-program')).toBe(false);
  });
});

describe('areNodeModulesCurrent', () => {
  const lock = (version: string): string =>
    JSON.stringify({
      packages: {
        '': {},
        'libs/kernel': {},
        'node_modules/nats': { version },
        'node_modules/other-platform': { version: '1.0.0', optional: true },
      },
    });
  const install = (version: string): void => {
    mkdirSync(path.join(root, 'node_modules'), { recursive: true });
    const packages = { 'node_modules/nats': { version } };
    writeFileSync(path.join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
  };
  beforeEach(() => writeFileSync(path.join(root, 'package-lock.json'), lock('2.29.3')));

  it('is false on a fresh clone', () => {
    expect(areNodeModulesCurrent(root)).toBe(false);
  });

  it('accepts what a developer installed with npm, and remembers it', () => {
    install('2.29.3');
    expect(areNodeModulesCurrent(root)).toBe(true);
    rmSync(path.join(root, 'node_modules', '.package-lock.json'));
    expect(areNodeModulesCurrent(root)).toBe(true);
  });

  it('is false once the lock file names another version', () => {
    install('2.29.3');
    expect(areNodeModulesCurrent(root)).toBe(true);
    writeFileSync(path.join(root, 'package-lock.json'), lock('2.30.0'));
    expect(areNodeModulesCurrent(root)).toBe(false);
  });
});
