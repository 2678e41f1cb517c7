import { cliError } from '../errors';
import { CapturedOutput } from '../testing/captured-output';
import { Printer } from './printer';

describe('Printer', () => {
  const printing = ({
    json = false,
    isTTY = false,
    env = {},
  }: { json?: boolean; isTTY?: boolean; env?: Record<string, string> } = {}) => {
    const [stdout, stderr] = [new CapturedOutput({ isTTY, columns: 120 }), new CapturedOutput()];
    return { printer: new Printer({ json, stdout, stderr, env }), stdout, stderr };
  };

  it('writes data to stdout and everything else to stderr', () => {
    const { printer, stdout, stderr } = printing();
    printer.note('working');
    printer.data('done');
    expect({ stdout: stdout.text, stderr: stderr.text }).toEqual({ stdout: 'done\n', stderr: 'working\n' });
  });

  it('writes one JSON document, and nothing more, to stdout when asked for JSON', () => {
    const { printer, stdout } = printing({ json: true });
    printer.result({ name: 'box' }, () => 'a box');
    expect(JSON.parse(stdout.text)).toEqual({ name: 'box' });
  });

  it('shows a listing as a table without trailing blanks', () => {
    const { printer, stdout } = printing();
    printer.list(
      {},
      ['NAME', 'STATE'],
      [
        ['box', 'ready'],
        ['a', ''],
      ],
      'none',
    );
    expect(stdout.text).toBe('NAME  STATE\nbox   ready\na\n');
  });

  it('says how to get something when there is nothing to list, and leaves stdout empty', () => {
    const { printer, stdout, stderr } = printing();
    printer.list({ items: [] }, ['NAME'], [], 'none yet; make one');
    expect({ stdout: stdout.text, stderr: stderr.text }).toEqual({ stdout: '', stderr: 'none yet; make one\n' });
  });

  it('gives an empty listing as JSON when asked for JSON', () => {
    const { printer, stdout } = printing({ json: true });
    printer.list({ items: [] }, ['NAME'], [], 'none');
    expect(JSON.parse(stdout.text)).toEqual({ items: [] });
  });

  it('shows the control characters of hostile cells instead of obeying them', () => {
    const { printer, stdout } = printing();
    printer.list({}, ['NAME'], [['\u001b[2Jgone\nnext']], 'none');
    expect(stdout.text).not.toContain('\u001b');
    expect(stdout.text.split('\n')).toHaveLength(3);
  });

  it('shows an error with its code and what to do next', () => {
    const { printer, stdout, stderr } = printing();
    printer.error(cliError('CLI_PLATFORM_DOWN', 'no platform runs'));
    expect(stderr.text).toMatch(/^vmctl: no platform runs \[CLI_PLATFORM_DOWN\]\n {2}Start it with `vmctl up`/);
    expect(stdout.text).toBe('');
  });

  it('shows an error as its body, on stderr, when asked for JSON', () => {
    const { printer, stderr } = printing({ json: true });
    printer.error(cliError('CLI_USAGE_INVALID', 'no', { path: 'x' }));
    expect(JSON.parse(stderr.text)).toMatchObject({ code: 'CLI_USAGE_INVALID', message: 'no', details: { path: 'x' } });
  });

  it('calls an error that nobody expected a defect, with its stack', () => {
    const { printer, stderr } = printing();
    printer.error(new TypeError('x is not a function'));
    expect(stderr.text).toContain('defect');
    expect(stderr.text).toContain('TypeError: x is not a function');
  });

  it.each([
    ['a terminal', { isTTY: true }, true],
    ['a pipe', {}, false],
    ['a terminal with NO_COLOR', { isTTY: true, env: { NO_COLOR: '1' } }, false],
    ['a terminal with an empty NO_COLOR', { isTTY: true, env: { NO_COLOR: '' } }, true],
    ['a terminal that gets JSON', { isTTY: true, json: true }, false],
  ])('colours for %s: %p', (_, options, isColored) => {
    expect(printing(options).printer.isColored).toBe(isColored);
  });
});
