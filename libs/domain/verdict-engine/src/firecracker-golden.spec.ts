import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawVerdict } from './draw-verdict';
import { parseEvidence, type BundleContent } from './evidence-codec';
import type { Verdict } from './verdict';

const GOLDEN = join(__dirname, '..', 'golden-firecracker');
const names = readdirSync(GOLDEN, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

const read = (name: string, file: string) => new Uint8Array(readFileSync(join(GOLDEN, name, file)));
const bundle = (name: string): BundleContent =>
  Object.fromEntries(['meta.json', 'serial.log', 'probes.jsonl'].map((file) => [file, read(name, file)]));

describe('recorded endings of guests without power management', () => {
  it('are all there', () => {
    expect(names).toEqual(['halt', 'poweroff', 'poweroff-f']);
  });

  it.each(names)('%s gets its expected verdict', (name) => {
    const { why, ...expected } = JSON.parse(Buffer.from(read(name, 'expected.json')).toString()) as Partial<Verdict> & {
      readonly why: string;
    };
    expect(why.length).toBeGreaterThan(0);
    expect(drawVerdict(parseEvidence(bundle(name)))).toMatchObject(expected);
  });

  it('are judged by other rules than those of a machine that can switch its power off', () => {
    const evidence = parseEvidence(bundle('poweroff'));
    const inQemu = { ...evidence, meta: { ...evidence.meta, driver: 'qemu' as const } };
    expect(drawVerdict(inQemu).class).toBe('halted');
  });
});
