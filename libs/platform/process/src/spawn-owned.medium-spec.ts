import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { getExecutable } from './find-executable';
import { isAlive, killAndObserve, observeGone, processIdentity, type ProcessIdentity } from './process-identity';
import { spawnOwned } from './spawn-owned';

const OBSERVE_MS = 15_000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'inquest-process-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const sleeper = (script = 'exec sleep 1000') => spawnOwned({ file: 'sh', args: ['-c', script], logFile: null });

/** Waits until the process itself said that it is set up: its log is not empty. */
async function untilLogged(logFile: string): Promise<string> {
  const end = performance.now() + OBSERVE_MS;
  while (performance.now() < end) {
    const text = await readFile(logFile, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return text.trim();
    await new Promise(setImmediate);
  }
  throw new Error(`nothing was written to ${logFile}`);
}

describe('spawnOwned', () => {
  it('stops a process with the stop signal and sees it gone', async () => {
    const child = await sleeper();
    expect(await isAlive(child)).toBe(true);
    expect(await child.stop({ graceMs: OBSERVE_MS })).toEqual({ code: null, signal: 'SIGTERM' });
    expect(await isAlive(child)).toBe(false);
  });

  it('kills a process that ignores the stop signal, with its whole group', async () => {
    const logFile = path.join(directory, 'stubborn.log');
    const script = "trap '' TERM; sleep 1000 & echo $!; while :; do wait; done";
    const child = await spawnOwned({ file: 'sh', args: ['-c', script], logFile });
    const grandchild = await processIdentity(Number(await untilLogged(logFile)));
    expect(await child.stop({ graceMs: 100 })).toEqual({ code: null, signal: 'SIGKILL' });
    expect(grandchild).not.toBeNull();
    expect(await observeGone(grandchild as ProcessIdentity, OBSERVE_MS)).toBe(true);
  });

  it('answers a second stop, and a stop after the end, with the same exit', async () => {
    const child = await spawnOwned({ file: 'sh', args: ['-c', 'read x; exit 7'], logFile: null, input: 'go\n' });
    expect(await child.exited).toEqual({ code: 7, signal: null });
    expect(await child.stop({ graceMs: 1 })).toEqual({ code: 7, signal: null });
    expect(await child.stop({ graceMs: 1 })).toEqual({ code: 7, signal: null });
  });

  it('uses the stop signal it was given', async () => {
    const child = await spawnOwned({ file: 'sleep', args: ['1000'], logFile: null, stopSignal: 'SIGINT' });
    expect(await child.stop({ graceMs: OBSERVE_MS })).toEqual({ code: null, signal: 'SIGINT' });
  });

  it('appends both outputs to a private log file', async () => {
    const logFile = path.join(directory, 'out.log');
    for (const word of ['one', 'two']) {
      await (
        await spawnOwned({ file: 'sh', args: ['-c', `read x; echo ${word}; echo ${word} >&2`], logFile, input: '\n' })
      ).exited;
    }
    expect(await readFile(logFile, 'utf8')).toBe('one\none\ntwo\ntwo\n');
    expect((await stat(logFile)).mode & 0o777).toBe(0o600);
  });

  it('puts a log file aside that has grown large', async () => {
    const logFile = path.join(directory, 'big.log');
    await writeFile(logFile, 'old');
    await truncate(logFile, 17 * 1024 * 1024);
    await (
      await spawnOwned({ file: 'sh', args: ['-c', 'read x; echo new'], logFile, input: '\n' })
    ).exited;
    expect(await readFile(logFile, 'utf8')).toBe('new\n');
    expect((await stat(`${logFile}.1`)).size).toBe(17 * 1024 * 1024);
  });

  it('names a program that is not installed, and starts nothing', async () => {
    await expect(spawnOwned({ file: 'no-such-daemon', args: [], logFile: null })).rejects.toMatchObject({
      code: 'PROCESS_NOT_FOUND',
    });
  });

  it('takes the child down when this process is killed with SIGKILL', async () => {
    const modulePath = path.join(__dirname, '../dist/index.js');
    const program = `require(${JSON.stringify(modulePath)}).spawnOwned({ file: 'sleep', args: ['1000'], logFile: null })
      .then((child) => console.log(JSON.stringify({ pid: child.pid, startTicks: child.startTicks })))`;
    const parent = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = JSON.parse(line.toString()) as ProcessIdentity;
    expect(await isAlive(child)).toBe(true);
    parent.kill('SIGKILL');
    expect(await observeGone(child, OBSERVE_MS)).toBe(true);
  });

  it('runs nothing for a process that was killed before it could bind the child to itself', async () => {
    const setpriv = path.join(directory, 'setpriv');
    const real = await getExecutable('setpriv');
    // The child is slower than the end of its parent.
    await writeFile(setpriv, `#!/bin/sh\nold=$PPID\nwhile [ -d /proc/$old ]; do :; done\nexec ${real} "$@"\n`);
    await chmod(setpriv, 0o755);
    const modulePath = path.join(__dirname, '../dist/index.js');
    const program = `require(${JSON.stringify(modulePath)}).spawnOwned({ file: 'sleep', args: ['1000'], logFile: null })
      .then(({ pid, startTicks }) => {
        require('node:fs').writeSync(1, JSON.stringify({ pid, startTicks }));
        process.kill(process.pid, 'SIGKILL');
      })`;
    const env = { ...process.env, PATH: `${directory}:${process.env['PATH']}` };
    const parent = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'], env });
    const child = JSON.parse(await text(parent.stdout)) as ProcessIdentity;
    expect(await observeGone(child, OBSERVE_MS)).toBe(true);
  });
});

describe('killAndObserve', () => {
  it('ends a process gracefully when it obeys', async () => {
    const child = await sleeper();
    expect(await killAndObserve(child, { graceMs: OBSERVE_MS })).toBe('ended');
    expect(await isAlive(child)).toBe(false);
  });

  it('kills at once without grace', async () => {
    const child = await sleeper();
    expect(await killAndObserve(child, { graceMs: 0 })).toBe('killed');
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('leaves a stranger alone that got the pid of a process that is gone', async () => {
    const child = await sleeper();
    const earlierLife = { pid: child.pid, startTicks: child.startTicks - 1 };
    expect(await killAndObserve(earlierLife, { graceMs: 0 })).toBe('already-gone');
    expect(await isAlive(child)).toBe(true);
    await child.stop({ graceMs: OBSERVE_MS });
  });

  it('counts a zombie as gone', async () => {
    const holder = await spawnOwned({
      file: 'sh',
      args: ['-c', 'sh -c "read x" & echo $!; exec sleep 1000'],
      logFile: path.join(directory, 'zombie.log'),
    });
    const pid = Number(await untilLogged(path.join(directory, 'zombie.log')));
    const zombie = await processIdentity(pid);
    if (zombie !== null) expect(await observeGone(zombie, OBSERVE_MS)).toBe(true);
    expect(await processIdentity(pid)).toBeNull();
    await holder.stop({ graceMs: OBSERVE_MS });
  });
});
