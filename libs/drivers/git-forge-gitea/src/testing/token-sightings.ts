import { readdir, readFile } from 'node:fs/promises';
import { TOKEN } from './gitea-fixture';

/** The token of the fixtures in every form in which it is sent or could be kept. */
const FORMS = [
  TOKEN,
  Buffer.from(TOKEN).toString('base64'),
  Buffer.from(`inquest:${TOKEN}`).toString('base64'),
  Buffer.from(TOKEN).toString('hex'),
];

/** The forms of the token that a text holds. */
export const tokenFormsIn = (text: string): string[] => FORMS.filter((form) => text.includes(form));

/** A process of this host, as everybody on it may see it. */
export interface SeenProcess {
  /** Its program and arguments. */
  readonly command: string;
  /** Forms of the token in its arguments and environment. */
  readonly tokenForms: readonly string[];
}

/** All processes of this host at this moment. */
export async function seeProcesses(): Promise<SeenProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const command = await textOf(`/proc/${pid}/cmdline`);
      const environment = await textOf(`/proc/${pid}/environ`);
      return { command: command.replaceAll('\0', ' '), tokenForms: tokenFormsIn(`${command}\0${environment}`) };
    }),
  );
}

// It may be gone by now.
const textOf = (file: string): Promise<string> => readFile(file, 'latin1').catch(() => '');
