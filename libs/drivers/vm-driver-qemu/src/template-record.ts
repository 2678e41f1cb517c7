import type { BigIntStats } from 'node:fs';
import { lstat, open, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { vmDriverError, type HostCheck, type TemplateFlaw, type VmBoot, type VmTemplate } from '@inquest/vm-driver';

/** Raised with every change of the devices of a machine, too: a state continues only on the devices that it is of. */
const FORMAT_VERSION = 2;

/** The files of a template directory besides its record. */
export const TEMPLATE_FILES = {
  /** The guest's memory, as large as it. The monitors' user owns it: QEMU before 8.2 opens it for writing even where it only copies. */
  memory: 'memory.ram',
  /** State of processors and devices. */
  state: 'device.state',
  /** What the captured machine had written on top of its disk. */
  layer: 'layer.qcow2',
  /** Empty overlay on the layer, never used: clones start with a copy. */
  overlay: 'overlay.qcow2',
} as const;

export type TemplateFile = keyof typeof TEMPLATE_FILES;

/** Written last: a directory without it is no template. */
const RECORD_FILE = 'template.json';

/** What decides whether this host can continue a template, and with which machine. */
export interface TemplateRecord {
  readonly formatVersion: typeof FORMAT_VERSION;
  readonly cpus: number;
  readonly memoryMib: number;
  /** Absent = false. */
  readonly hasScreen?: boolean;
  /** The machine that was captured had these; its clones get them again, for their ROMs are part of its state. */
  readonly boot: VmBoot;
  readonly accelerator: HostCheck['accelerator'];
  /** The monitor's version line: device state is only continued by the version that saved it. */
  readonly monitorVersion: string;
  /** What each file was when the template was made: a template that anybody wrote to is not used. */
  readonly files: Readonly<Record<TemplateFile, string>>;
  /** The disk below the layer; on another one the layer would be garbage. */
  readonly disk: { readonly path: string; readonly identity: string };
}

/** Where a file of a template is. */
export const templateFile = (directory: string, file: TemplateFile): string =>
  path.join(directory, TEMPLATE_FILES[file]);

/** Completes a template whose files are all in place: durable before it resolves. */
export async function writeTemplateRecord(
  directory: string,
  facts: Omit<TemplateRecord, 'formatVersion' | 'files' | 'disk'>,
  diskPath: string,
): Promise<void> {
  const names = Object.keys(TEMPLATE_FILES) as TemplateFile[];
  for (const name of names) await flush(templateFile(directory, name));
  const identities = await Promise.all(
    names.map(async (name) => [name, await identityOf(templateFile(directory, name))]),
  );
  const record: TemplateRecord = {
    formatVersion: FORMAT_VERSION,
    ...facts,
    files: Object.fromEntries(identities) as TemplateRecord['files'],
    disk: { path: diskPath, identity: await identityOf(diskPath) },
  };
  const target = path.join(directory, RECORD_FILE);
  await writeFile(`${target}.partial`, JSON.stringify(record), { mode: 0o600, flush: true });
  await rename(`${target}.partial`, target);
  await flush(directory);
}

/** The record of a template that is as it was made and that this host can continue, else `VM_TEMPLATE_UNFIT`. */
export async function readTemplateRecord(directory: string, host: HostCheck): Promise<TemplateRecord> {
  const record = await parseRecord(directory);
  if (record.monitorVersion !== host.version || record.accelerator !== host.accelerator) {
    throw unfit(
      directory,
      'outdated',
      `it was made by ${record.monitorVersion} (${record.accelerator}), and this host has ${host.version} (${host.accelerator})`,
    );
  }
  const names = Object.keys(TEMPLATE_FILES) as TemplateFile[];
  await Promise.all([
    ...names.map((name) => checkUnchanged(directory, templateFile(directory, name), record.files[name])),
    checkUnchanged(directory, record.disk.path, record.disk.identity),
  ]);
  return record;
}

/** The template as its users see it. */
export const templateOf = (directory: string, { cpus, memoryMib, hasScreen = false }: TemplateRecord): VmTemplate => ({
  directory,
  cpus,
  memoryMib,
  hasScreen,
});

async function parseRecord(directory: string): Promise<TemplateRecord> {
  try {
    const record = JSON.parse(await readFile(path.join(directory, RECORD_FILE), 'utf8')) as TemplateRecord;
    if (record.formatVersion === FORMAT_VERSION) return record;
  } catch (e) {
    // The record is put in its place whole, and last.
    const flaw = (e as NodeJS.ErrnoException).code === 'ENOENT' ? 'incomplete' : 'damaged';
    throw unfit(directory, flaw, `it has no whole record (${(e as Error).message})`, e);
  }
  throw unfit(directory, 'outdated', 'its record is of another version of the driver');
}

async function checkUnchanged(directory: string, file: string, recorded: string): Promise<void> {
  const identity = await identityOf(file).catch((e: Error) => {
    throw unfit(directory, 'damaged', e.message, e);
  });
  if (identity !== recorded) throw unfit(directory, 'damaged', `${file} was changed since`);
}

/** A write changes the times, and nobody can set ctime. */
async function identityOf(file: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs }: BigIntStats = await lstat(file, { bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join(' ');
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const unfit = (directory: string, flaw: TemplateFlaw, why: string, cause?: unknown) =>
  vmDriverError('VM_TEMPLATE_UNFIT', `the template in ${directory} cannot be used: ${why}`, { directory, flaw }, cause);
