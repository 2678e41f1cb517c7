import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tempDir, type TempDir } from '@inquest/testing';
import type { HostCheck } from '@inquest/vm-driver';
import { HostCheckMemo } from './host-check-memo';

const never = new AbortController().signal;

describe('what a driver knows of its host', () => {
  let directory: TempDir;
  let program: string;
  let probes: number;
  let probe: () => Promise<HostCheck>;
  let memo: HostCheckMemo;

  const install = async (text: string): Promise<void> => {
    await writeFile(`${program}.new`, text);
    await chmod(`${program}.new`, 0o755);
    await rename(`${program}.new`, program);
  };
  beforeEach(async () => {
    directory = await tempDir('host-check');
    program = path.join(directory.path, 'monitor');
    await install('1');
    probes = 0;
    probe = () => Promise.resolve({ accelerator: 'tcg', reason: '', version: String(++probes) });
    memo = new HostCheckMemo(program, () => probe());
  });
  afterEach(() => directory.remove());

  it('is found out once for all who ask', async () => {
    const checks = await Promise.all([memo.get(never), memo.get(never)]);
    expect([...checks, await memo.get(never)].map(({ version }) => version)).toEqual(['1', '1', '1']);
  });

  it('is found out anew when the monitor was replaced, removed, or came back', async () => {
    await memo.get(never);
    await install('22');
    await expect(memo.get(never)).resolves.toMatchObject({ version: '2' });
    await rm(program);
    await expect(memo.get(never)).resolves.toMatchObject({ version: '3' });
    await install('333');
    await expect(memo.get(never)).resolves.toMatchObject({ version: '4' });
    await expect(memo.get(never)).resolves.toMatchObject({ version: '4' });
  });

  it('is tried again after it could not be found out', async () => {
    const sound = probe;
    probe = () => Promise.reject(new Error('no memory'));
    await expect(memo.get(never)).rejects.toThrow('no memory');
    probe = sound;
    await expect(memo.get(never)).resolves.toMatchObject({ version: '1' });
  });

  it('is found out for the others when one gives up', async () => {
    let finish: (check: HostCheck) => void = () => undefined;
    probe = () => new Promise((resolve) => (finish = resolve));
    const impatient = new AbortController();
    const given = memo.get(impatient.signal);
    const kept = memo.get(never);
    impatient.abort();
    await expect(given).rejects.toMatchObject({ code: 'OPERATION_ABORTED' });
    finish({ accelerator: 'kvm', reason: '', version: 'late' });
    await expect(kept).resolves.toMatchObject({ version: 'late' });
  });
});
