import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { vmDriverError } from '../errors';
import type { TemplateFlaw, VmTemplate } from '../template-driver';
import type { VmSpec } from '../vm-specification';

const RECORD_FILE = 'template.json';

/** A template of the fake driver: what its clones have of the captured machine. */
export interface FakeTemplate extends VmTemplate {
  readonly spec: Pick<VmSpec, 'boot' | 'disk'>;
}

/** Throws `VM_TEMPLATE_EXISTS` and touches nothing when it is there. */
export async function makeTemplateDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
    throw vmDriverError('VM_TEMPLATE_EXISTS', `${directory} exists already`, { directory }, e);
  }
}

/** Completes a template. */
export async function writeFakeTemplate(directory: string, spec: VmSpec): Promise<VmTemplate> {
  const { cpus, memoryMib, hasScreen = false, boot, disk } = spec;
  const shape = { cpus, memoryMib, hasScreen };
  await writeFile(path.join(directory, RECORD_FILE), JSON.stringify({ ...shape, spec: { boot, disk } }));
  return { directory, ...shape };
}

/** Throws `VM_TEMPLATE_UNFIT` for what is no whole template. */
export async function readFakeTemplate(directory: string): Promise<FakeTemplate> {
  try {
    const text = await readFile(path.join(directory, RECORD_FILE), 'utf8');
    return { directory, ...(JSON.parse(text) as Omit<FakeTemplate, 'directory'>) };
  } catch (e) {
    const flaw: TemplateFlaw = (e as NodeJS.ErrnoException).code === 'ENOENT' ? 'incomplete' : 'damaged';
    throw vmDriverError('VM_TEMPLATE_UNFIT', `there is no whole template in ${directory}`, { directory, flaw }, e);
  }
}
