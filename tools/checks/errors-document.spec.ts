import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { collectErrors, renderErrors } from '../docs/error-tables.mjs';
import { workspaceRoot } from '../workspace/projects.mjs';

const load = (root: string): Record<string, unknown> => jest.requireActual(path.join(workspaceRoot, root, 'src'));

const entries = collectErrors(load);

describe('docs/errors.md', () => {
  it('lists exactly the codes of the error tables (else run: node tools/docs/generate-errors.mjs)', () => {
    const written = readFileSync(path.join(workspaceRoot, 'docs', 'errors.md'), 'utf8');
    expect(written).toBe(renderErrors(entries));
  });

  it('gives each code one meaning', () => {
    const codes = entries.map(({ code }) => code);
    expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
  });
});

describe('the error tables', () => {
  it('were found', () => {
    expect(entries.map(({ code }) => code)).toEqual(expect.arrayContaining(['ID_INVALID', 'PROCESS_NOT_FOUND']));
  });

  it.each(entries.map(({ code, row }) => [code, row] as const))(
    'say of %s when it happens and what to do',
    (code, row) => {
      expect(code).toMatch(/^[A-Z]+(_[A-Z0-9]+)*$/);
      expect(['caller', 'guest', 'infra']).toContain(row.fault);
      expect(row.status).toBeGreaterThanOrEqual(400);
      expect(row.when).toMatch(/^\S.{10,}\.$/);
      expect(row.remediation).toMatch(/^\S.{5,}\.$/);
    },
  );
});
