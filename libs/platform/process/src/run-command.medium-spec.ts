import { readFile } from 'node:fs/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openCommand } from './open-command';
import { observeGone, processIdentity } from './process-identity';
import { runCommand, runCommandBytes } from './run-command';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'inquest-process-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Starts a grandchild, writes its pid to a file, says so, and waits for ever. */
const withGrandchild = (pidFile: string): string => `sleep 1000 & echo $! > ${pidFile}; echo up; wait`;

/** True once the process in the file is gone: the kernel takes a moment after SIGKILL. */
const isGone = async (pidFile: string): Promise<boolean> => {
  const identity = await processIdentity(Number(await readFile(pidFile, 'utf8')));
  return identity === null || observeGone(identity, 15_000);
};

describe('runCommand', () => {
  it('gives exit code, output and error output', async () => {
    const script = 'cat; echo problem >&2; exit 3';
    const result = await runCommand('sh', ['-c', script], { input: 'text', acceptExitCodes: [0, 3] });
    expect(result).toEqual({ exitCode: 3, stdout: 'text', stderr: 'problem\n' });
  });

  it('passes arguments as they are, without a shell', async () => {
    const hostile = ['$(touch /tmp/x)', '; echo', '*', ''];
    expect((await runCommand('printf', ['%s|', ...hostile])).stdout).toBe(`${hostile.join('|')}|`);
  });

  it('keeps bytes that are not UTF-8', async () => {
    const { stdout } = await runCommandBytes('printf', ['\\377\\000\\n']);
    expect([...stdout]).toEqual([0xff, 0, 0x0a]);
  });

  it('says which program is missing', async () => {
    await expect(runCommand('no-such-program', [])).rejects.toMatchObject({
      code: 'PROCESS_NOT_FOUND',
      message: 'the program no-such-program is not installed',
    });
  });

  it('says how the program failed, in its own words', async () => {
    await expect(runCommand('sh', ['-c', 'echo disk on fire >&2; exit 9'])).rejects.toMatchObject({
      code: 'PROCESS_FAILED',
      message: expect.stringContaining('exited with 9: disk on fire') as string,
      details: { exitCode: 9, signal: null },
    });
  });

  it('says which signal ended the program', async () => {
    await expect(runCommand('sh', ['-c', 'kill -SEGV $$'])).rejects.toMatchObject({
      code: 'PROCESS_FAILED',
      details: { exitCode: null, signal: 'SIGSEGV' },
    });
  });

  it('fails with its own error when the working directory does not exist', async () => {
    const attempt = runCommand('true', [], { cwd: path.join(directory, 'absent') });
    await expect(attempt).rejects.toMatchObject({ code: 'PROCESS_FAILED' });
  });

  it('kills the whole process group at the deadline', async () => {
    const pidFile = path.join(directory, 'deadline.pid');
    const attempt = runCommand('sh', ['-c', withGrandchild(pidFile)], { timeoutMs: 1500 });
    await expect(attempt).rejects.toMatchObject({ code: 'PROCESS_TIMEOUT' });
    expect(await isGone(pidFile)).toBe(true);
  });

  it('kills the whole process group when aborted', async () => {
    const pidFile = path.join(directory, 'abort.pid');
    const controller = new AbortController();
    const attempt = openCommand('sh', ['-c', withGrandchild(pidFile)], { signal: controller.signal });
    const command = await attempt;
    command.stdout.once('data', () => controller.abort());
    await expect(command.finished).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    expect(await isGone(pidFile)).toBe(true);
  });

  it('leaves no process of the group behind after a normal end either', async () => {
    const pidFile = path.join(directory, 'normal.pid');
    await runCommand('sh', ['-c', `sleep 1000 >/dev/null 2>&1 & echo $! > ${pidFile}`]);
    expect(await isGone(pidFile)).toBe(true);
  });

  it('does not wait for a daemon that keeps the output open past the deadline', async () => {
    const attempt = runCommand('sh', ['-c', 'setsid sleep 20 & exit 0'], { timeoutMs: 500 });
    await expect(attempt).rejects.toMatchObject({ code: 'PROCESS_TIMEOUT' });
  });

  it('starts nothing when it is aborted already', async () => {
    const file = path.join(directory, 'never');
    const attempt = runCommand('touch', [file], { signal: AbortSignal.abort() });
    await expect(attempt).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses endless output instead of filling memory', async () => {
    const attempt = runCommand('yes', [], { maxOutputBytes: 100_000 });
    await expect(attempt).rejects.toMatchObject({ code: 'PROCESS_OUTPUT_OVERSIZED' });
  });

  it('hides our environment from the program', async () => {
    process.env['INQUEST_CANARY'] = 'secret';
    try {
      const { stdout } = await runCommand('env', [], { env: { ADDED: 'yes' } });
      expect(stdout).toContain('ADDED=yes');
      expect(stdout).not.toContain('INQUEST_CANARY');
    } finally {
      delete process.env['INQUEST_CANARY'];
    }
  });
});

describe('openCommand', () => {
  it('streams both ways', async () => {
    const command = await openCommand('tr', ['a-z', 'A-Z']);
    command.stdin.end('streamed');
    const chunks: Buffer[] = [];
    for await (const chunk of command.stdout) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('STREAMED');
    expect(await command.finished).toBe(0);
  });

  it('reports a failure through finished with the end of the error output', async () => {
    const command = await openCommand('sh', ['-c', 'echo no space >&2; exit 4']);
    command.stdout.resume();
    await expect(command.finished).rejects.toMatchObject({
      code: 'PROCESS_FAILED',
      message: expect.stringContaining('no space') as string,
    });
  });

  it('survives a program that does not read its input', async () => {
    const command = await openCommand('true', []);
    command.stdout.resume();
    command.stdin.write(Buffer.alloc(1024 * 1024));
    expect(await command.finished).toBe(0);
  });

  it('is aborted by its deadline', async () => {
    const script = path.join(directory, 'slow.sh');
    await writeFile(script, 'sleep 1000');
    const command = await openCommand('sh', [script], { timeoutMs: 200 });
    await expect(command.finished).rejects.toMatchObject({ code: 'PROCESS_TIMEOUT' });
  });
});
