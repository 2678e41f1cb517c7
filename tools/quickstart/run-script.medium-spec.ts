import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive, processIdentity, type ProcessIdentity } from '@inquest/process';
import { tempDir, type TempDir } from '@inquest/testing';

/** A script that starts another process, names it, and waits; it counts the signals that it gets. */
const PARENT = `
import { spawn } from 'node:child_process';
const child = spawn('sleep', ['4321'], { stdio: 'ignore' });
let signals = 0;
process.on('SIGINT', () => { signals++; setTimeout(() => { console.log('signals ' + signals); process.exit(7); }, 100); });
console.log('child ' + child.pid);
setInterval(() => undefined, 1000);
`;

/** What the quick start does around each of its steps. */
const runner = (script: string): string => `
import { Interruption } from ${JSON.stringify(path.join(__dirname, 'interruption.mjs'))};
import { runScript } from ${JSON.stringify(path.join(__dirname, 'run-script.mjs'))};
const interruption = new Interruption();
const status = await runScript(${JSON.stringify(script)}, [], interruption);
console.log('status ' + status + ' ' + interruption.status);
`;

describe('a step of the quick start', () => {
  let directory: TempDir;
  beforeEach(async () => {
    directory = await tempDir('quickstart');
  });
  afterEach(() => directory.remove());

  const start = async (script: string): Promise<{ child: ChildProcess; lines: AsyncIterator<string> }> => {
    const [step, main] = [path.join(directory.path, 'step.mjs'), path.join(directory.path, 'main.mjs')];
    await writeFile(step, script);
    await writeFile(main, runner(step));
    const child = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  };
  const next = async (lines: AsyncIterator<string>): Promise<string> => String((await lines.next()).value);

  it('gives its exit status', async () => {
    const { lines } = await start('process.exit(5)');
    expect(await next(lines)).toBe('status 5 null');
  });

  it('gets an interruption once, however often it is sent, and leaves nothing that it started', async () => {
    const { child, lines } = await start(PARENT);
    const pid = Number((await next(lines)).replace('child ', ''));
    const grandchild = (await processIdentity(pid)) as ProcessIdentity;
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await next(lines)).toBe('signals 1');
    expect(await next(lines)).toBe('status 7 130');
    expect(await isAlive(grandchild)).toBe(false);
    if (child.exitCode === null) await once(child, 'exit');
  });
});
