import fc from 'fast-check';
import { decodeTranscript } from './decode-transcript';
import type { TranscriptEntry } from './entry';
import { displayWidth } from './printable';
import { EntryRenderer, renderTranscript } from './render-transcript';
import type { RenderOptions } from './row';
import { sampleTranscript, SampleSession } from './testing/sample-transcript';

const plain: RenderOptions = { color: false, width: 100, verbose: false };
const render = (entries: readonly TranscriptEntry[], options: Partial<RenderOptions> = {}): string =>
  renderTranscript(entries, { ...plain, ...options });

// Every text of an entry replaced by `hostile`, so that no property is forgotten.
const poisoned = (entry: TranscriptEntry, hostile: string): TranscriptEntry =>
  JSON.parse(JSON.stringify(entry), (key, value: unknown) =>
    typeof value === 'string' && !['type', 'outcome', 'state'].includes(key) ? hostile : value,
  ) as TranscriptEntry;

describe('renderTranscript', () => {
  it('shows a session as a person reads it', () => {
    expect(`\n${render(sampleTranscript())}`).toBe(SHOWN);
  });

  it('keeps every line within the width', () => {
    for (const width of [60, 80, 120]) {
      const entries = sampleTranscript().map((entry) =>
        entry.type === 'session_opened' ? entry : poisoned(entry, '漢字 wörd '.repeat(40)),
      );
      const rows = render(entries, { width })
        .split('\n')
        .filter((line) => line.startsWith(' '));
      expect(Math.max(...rows.map(displayWidth))).toBeLessThanOrEqual(width);
    }
  });

  it('writes no control character, escape or invisible character of a guest, whatever it printed', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        '\u001b[2J\u001b[H',
        '\u001b]0;title\u0007',
        '\u009b31m',
        'a\rb',
        '\u202egpj.exe',
        'a\u200bb',
        '\u001b\u001b[31m[31m',
      ),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = render(sampleTranscript().map((entry) => poisoned(entry, text)));
        expect(shown).not.toMatch(/[^\P{C}\n]/u);
      }),
    );
  });

  it('writes no other escapes than its own colours', () => {
    const shown = render(sampleTranscript(), { color: true });
    const own = new RegExp('\\x1b\\[(?:1|2|3[1-6]|22|39)m', 'g');
    expect(shown).toMatch(own);
    expect(shown.replace(own, '')).toBe(render(sampleTranscript()));
  });

  it('does not let an unfinished terminal sequence swallow what follows', () => {
    const { entries } = new SampleSession().verb(
      'run',
      { command: 'x' },
      '\u001b]0;rm -rf / was run\nand more',
      'failed',
    );
    expect(render(entries)).toContain('rm -rf / was run');
  });

  it('shows the beginning of a long output and how much is left, and everything when verbose', () => {
    const output = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
    const { entries } = new SampleSession().verb('run', { command: 'seq' }, output);
    expect(render(entries)).toContain('… 32 more lines');
    expect(render(entries)).not.toContain('line 39');
    expect(render(entries, { verbose: true })).toContain('line 39');
  });

  it('says that a line was recorded shortened and what is wrong with the record', () => {
    const [first] = new SampleSession().verb('run', {}, 'x').entries as [TranscriptEntry];
    const shown = renderTranscript(
      [{ ...first, cut: { characters: 7, items: 2 } }],
      plain,
      decodeTranscript(Buffer.from('{"')).problems,
    );
    expect(shown).toContain('(recorded without 7 characters and 2 items)');
    expect(shown).toContain('! transcript: the last line is torn after 2 bytes; skipped');
  });

  it('counts time from the start of each run', () => {
    const { entries } = new SampleSession()
      .add('run_started', { prompt: 'one', model: null })
      .after(90_000)
      .add('run_started', { prompt: 'two', model: null })
      .after(1500)
      .add('host_event', { event: 'x', detail: 'y' });
    expect(render(entries)).toMatch(/^ +0:01\.5 .*x: y$/m);
  });

  it('gives the same lines entry by entry as at once', () => {
    const renderer = new EntryRenderer(plain);
    const live = sampleTranscript().flatMap((entry) => renderer.render(entry));
    expect(`${live.join('\n')}\n`).toBe(render(sampleTranscript()));
  });
});

const SHOWN = `
session s-1   project demo   image tiny:1   machine local-3f9
opened 2026-01-05 10:00:00 UTC

run r-1   model scripted   started 2026-01-05 10:00:00 UTC
                           │ Write a FizzBuzz program with a README.
  0:00.3  “ says           I start with a plan.
  0:00.3  # plan           1. Write fizzbuzz.sh
                           2. Run it in the machine
  0:00.4  ✓ write_file     /mnt/project/fizzbuzz.sh content=<17 characters> → wrote 17 bytes   12 ms
  0:00.4  ✓ run            sh /mnt/project/fizzbuzz.sh 3                                       84 ms
                           │ exit 0
                           │ 1
                           │ 2
                           │ Fizz
  0:00.4  ✗ run            sh missing.sh                                                       12 ms
                           │ exit 127
                           │ sh: missing.sh: not found
  0:00.5  ⊘ run            cd /mnt/project && git add -A
                           refused: \`git add\` writes; use git_commit
  0:00.5  ? confirmation   Delete it? → approved by ana: it is a copy
  0:00.5  * host           hang_suspected: no output for 600 s
  0:00.5  = verdict        clean_poweroff (certain): The guest powered itself off.
                           serial.log at 5120: "reboot: Power down"
  0:00.5  ✓ publication    commit 1a2b3c4d5e on inquest/s-1, published: file:///srv/forge/demo.git
                           kept: README.md, fizzbuzz.sh
                           held back: scratch_test.sh (throw-away-test: a test script at the root)
  0:00.5  ✓ run ended      done: FizzBuzz works.
  0:00.5  Σ census         3x run (1 refused, 1 failed); never used: click
                           differs: exec is 2 here, 3 by the guest agent

session closed  the machine was destroyed
`;
