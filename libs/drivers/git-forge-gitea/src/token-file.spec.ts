import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shownText, TokenFile } from './token-file';

const TOKEN = 'c0ffee5ec2e7ca11ab1ec0dedeadbeeff005ba11';

describe('TokenFile', () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'token-'));
    file = path.join(directory, 'token');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const write = async (text: string, mode = 0o600): Promise<void> => {
    await writeFile(file, text);
    await chmod(file, mode);
  };

  it.each([TOKEN, `${TOKEN}\n`, `${TOKEN}\r\n`])('reads %j', async (text) => {
    await write(text);
    expect(await new TokenFile(file).read()).toBe(TOKEN);
  });

  it.each([
    ['nothing', '', 0o600],
    ['two lines', `${TOKEN}\nurl=https://evil.example\n`, 0o600],
    ['a space', `${TOKEN} x`, 0o600],
    ['something short', 'x', 0o600],
    ['too much', 'x'.repeat(10_000), 0o600],
    ['a token that the group may read', TOKEN, 0o640],
    ['a token that all may read', TOKEN, 0o604],
  ])('refuses a file with %s and does not show it', async (_, text, mode) => {
    await write(text, mode);
    const error: unknown = await new TokenFile(file).read().catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'FORGE_TOKEN_UNREADABLE', details: { path: file } });
    expect((error as Error).message).not.toContain(TOKEN);
  });

  it('refuses what is no file', async () => {
    await mkdir(file);
    await expect(new TokenFile(file).read()).rejects.toMatchObject({ code: 'FORGE_TOKEN_UNREADABLE' });
    await expect(new TokenFile('/nowhere').read()).rejects.toMatchObject({ code: 'FORGE_TOKEN_UNREADABLE' });
  });

  it('names its file, and nothing of it, in the credential helper', () => {
    expect(new TokenFile("/it's/token").credentialHelper).toContain("cat '/it'\\''s/token'");
  });
});

describe('shownText', () => {
  it('is without the token, on one printable line, and bounded', () => {
    const basic = Buffer.from(`inquest:${TOKEN}`).toString('base64');
    expect(shownText(`a ${TOKEN}\n\u001b[31mb ${basic}`, TOKEN)).toBe('a [token] [31mb [token]');
    expect(shownText('x'.repeat(1000), TOKEN)).toHaveLength(601);
  });
});
