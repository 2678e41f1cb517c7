import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '../workspace/projects.mjs';

interface DecisionRecord {
  readonly file: string;
  readonly text: string;
  readonly title: string;
  readonly status: string;
  readonly date: string;
}

const directory = path.join(workspaceRoot, 'docs', 'adr');
const SECTIONS = ['## Context', '## Decision', '## Consequences'];
const STATUS = /^(accepted|proposed|superseded by \[\d{4}\]\((\d{4}-[a-z0-9-]+\.md)\))$/;

const records: readonly DecisionRecord[] = readdirSync(directory)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .sort()
  .map((file) => {
    const text = readFileSync(path.join(directory, file), 'utf8');
    const field = (name: string): string => new RegExp(`^- ${name}: (.+)$`, 'm').exec(text)?.[1] ?? '';
    return { file, text, title: /^# (.+)$/m.exec(text)?.[1] ?? '', status: field('Status'), date: field('Date') };
  });

/** The table of docs/adr/README.md, as the headers of the records give it. */
const indexRows = records.map(({ file, title, status, date }) =>
  `| [${title}](${file}) | ${status} | ${date} |`.replaceAll(/ +/g, ' '),
);

/** The targets of relative links, without their anchors. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target]) => target ?? '');

describe.each(records.map((record) => [record.file, record] as const))('docs/adr/%s', (file, record) => {
  it('has a header with its number, its status and its date', () => {
    expect(file).toMatch(/^\d{4}-[a-z0-9]+(-[a-z0-9]+)*\.md$/);
    expect(record.title).toMatch(new RegExp(`^${file.slice(0, 4)}: [A-Z].+[^.]$`));
    expect(record.status).toMatch(STATUS);
    expect(record.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it('gives context, decision and consequences, in this order', () => {
    expect(record.text.match(/^## .+$/gm)).toEqual(SECTIONS);
  });

  it('links only to files that exist', () => {
    expect(linksIn(record.text).filter((target) => !existsSync(path.join(directory, target)))).toEqual([]);
  });
});

describe('docs/adr/README.md', () => {
  it('lists exactly the records, as their headers give them', () => {
    const index = readFileSync(path.join(directory, 'README.md'), 'utf8');
    const rows = [...index.matchAll(/^\| \[.+$/gm)].map(([row]) => row.replaceAll(/ +/g, ' '));
    expect(rows).toEqual(indexRows);
  });

  it('numbers the records without a gap', () => {
    expect(records.map(({ file }) => Number(file.slice(0, 4)))).toEqual(records.map((_, at) => at + 1));
    expect(records.length).toBeGreaterThan(0);
  });
});
