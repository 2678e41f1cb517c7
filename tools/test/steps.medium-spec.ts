import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runLanes } from './steps.mjs';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'inquest-steps-'));
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

function step(name: string, source: string) {
  const file = path.join(directory, `${name}.js`);
  writeFileSync(file, source);
  return { name, args: [file] };
}

const touches = (name: string) => step(name, `require('node:fs').writeFileSync(__filename + '.ran', '')`);
const ran = (): string[] => readdirSync(directory).filter((name) => name.endsWith('.ran'));

describe('runLanes', () => {
  it('runs every step of every lane', async () => {
    await runLanes([[touches('a'), touches('b')], [touches('c')]]);
    expect(ran()).toEqual(['a.js.ran', 'b.js.ran', 'c.js.ran']);
  });

  it('stops at the first failure with its output, and ends what runs beside it', async () => {
    const endless = step('endless', 'setInterval(() => undefined, 1000)');
    const broken = step('broken', 'console.log("what is wrong"); process.exit(3)');
    const attempt = runLanes([[endless, touches('later')], [broken]]);
    await expect(attempt).rejects.toMatchObject({ message: 'broken ended with 3', output: 'what is wrong\n' });
    expect(ran()).toEqual([]);
  });
});
