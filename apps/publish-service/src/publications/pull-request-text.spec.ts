import fc from 'fast-check';
import type { SessionReport } from '@inquest/contracts-publish';
import { pullRequestBody, pullRequestTitle, type PullRequestFacts } from './pull-request-text';

const facts = (more: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
  publicationId: 'pub-1',
  sessionId: 'ses-1',
  project: 'demo',
  commit: 'c'.repeat(40),
  title: 'Add a thing',
  report: null,
  heldCount: 0,
  held: [],
  rulesProblem: null,
  ...more,
});
const report = (more: Partial<SessionReport> = {}): SessionReport => ({
  summary: 'I added a thing.\nIt works.',
  census: {
    verbs: [{ verb: 'run', count: 3, refused: 1, failed: 0, errors: 2 }],
    neverUsed: ['screenshot'],
  },
  verdict: { class: 'clean_poweroff', confidence: 'certain', account: 'The guest powered off.' },
  ...more,
});

describe('pullRequestBody', () => {
  it('says that the scratch rules of the project had no part in it, in words that are nobody else’s Markdown', () => {
    const message = '.inquest/scratch.yaml is not valid: the document has the unknown key "@all".';
    const rulesProblem = {
      code: 'SCRATCH_RULES_INVALID',
      fault: 'caller',
      status: 422,
      remediation: '',
      details: {},
    } as const;
    const body = pullRequestBody(facts({ rulesProblem: { ...rulesProblem, message } }));
    expect(body).toContain(`own scratch rules had no part in this:\n\n    ${message}`);
    expect(pullRequestBody(facts())).not.toContain('scratch rules');
  });

  it('carries the summary, the verdict, the census and what was held back', () => {
    const held = [{ path: 'nohup.out', rule: 'noise/log', why: 'It is a log.' }];
    expect(pullRequestBody(facts({ report: report(), heldCount: 1, held }))).toBe(
      `Made by Inquest session \`ses-1\` in a virtual machine; commit \`${'c'.repeat(40)}\`, publication \`pub-1\`.

## Summary

    I added a thing.
    It works.

## Verdict

    clean_poweroff (certain)
    The guest powered off.

## Census

    3 x run (1 refused, 2 errors)
    never used: screenshot

## Held back

1 file is not in the commit; \`vmctl publish show pub-1\` lists them too.

    nohup.out
      It is a log. (noise/log)`,
    );
  });

  it('says what is not known', () => {
    expect(pullRequestBody(facts())).toContain('The session left no summary.');
    expect(pullRequestBody(facts({ report: report({ verdict: null, census: null }) }))).toMatch(
      /How the machine ended was not established\.[^]*Nothing was counted\.[^]*No file was held back\./,
    );
  });

  it('lets no foreign text leave its block, hide in it or grow without bound', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '@all',
        '#1',
        '```',
        '</pre>',
        '<img src=x>',
        '\r',
        '\r\n',
        '\u2028',
        '\v',
        '\f',
        '\u202e',
        '\t\n-',
      ),
    );
    const text = fc.array(hostile, { maxLength: 30 }).map((parts) => `\u0001${parts.join('')}`);
    const ours = new Set(pullRequestBody(facts({ report: report(), heldCount: 2, held: [] })).split('\n'));
    fc.assert(
      fc.property(text, text, text, text, (summary, account, verb, path) => {
        const census = { verbs: [{ verb, count: 1, refused: 0, failed: 0, errors: 0 }], neverUsed: [verb] };
        const verdict = { class: verb, confidence: verb, account };
        const held = [1, 2].map(() => ({ path, rule: verb, why: account }));
        const body = pullRequestBody(facts({ report: { summary, census, verdict }, heldCount: 2, held }));
        for (const line of body.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)) {
          if (!ours.has(line) && line !== 'The session left no summary.') expect(line).toMatch(/^ {4}/);
        }
        expect(body).not.toMatch(/[^\P{C}\n]/u);
      }),
    );
  });

  it('stays within what a forge takes, whatever it is told', () => {
    const long = 'x\n'.repeat(512);
    const verbs = Array.from({ length: 100 }, (_, n) => ({
      verb: `${n}`.repeat(64),
      count: 1e9,
      refused: 1e9,
      failed: 1e9,
      errors: 1e9,
    }));
    const census = { verbs, neverUsed: verbs.map(({ verb }) => verb) };
    const verdict = { class: long, confidence: long, account: long };
    const held = Array.from({ length: 500 }, (_, n) => ({ path: `${n}${'p'.repeat(4000)}`, rule: long, why: long }));
    for (const summary of ['x\n'.repeat(100_000), 'y'.repeat(200_000), ' '.repeat(200_000)]) {
      const body = pullRequestBody(facts({ report: { summary, census, verdict }, heldCount: 500, held }));
      expect(body.length).toBeLessThanOrEqual(65_536);
      expect(body).toContain('500 files are not in the commit');
    }
  });
});

describe('pullRequestTitle', () => {
  it.each([
    ['A\n\u202ething', 'A thing'],
    [' ', 'Inquest session ses-1 on demo'],
    ['x'.repeat(500), `${'x'.repeat(254)}…`],
  ])('makes one line of %j that every forge takes', (title, expected) => {
    expect(pullRequestTitle(facts({ title }))).toBe(expected);
  });
});
