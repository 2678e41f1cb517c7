import { PassThrough } from 'node:stream';
import { GatewayClient } from '../api/gateway-client';
import type { CliContext } from '../context';
import { Printer } from '../output/printer';
import { CapturedOutput } from '../testing/captured-output';
import { CheckList, Unproven } from './check-list';

function contextWith({ json }: { readonly json: boolean }): { context: CliContext; stdout: CapturedOutput } {
  const [stdout, stderr] = [new CapturedOutput(), new CapturedOutput()];
  const { signal } = new AbortController();
  const printer = new Printer({ json, stdout, stderr, env: {} });
  const gateway = new GatewayClient({}, signal);
  const context = {
    env: {},
    gateway,
    printer,
    stdin: new PassThrough(),
    stdout,
    stderr,
    signal,
    exit: () => undefined,
  };
  return { context, stdout };
}

const passing = (): Promise<string> => Promise.resolve('seen');
const failing = (): Promise<string> => Promise.reject(new Error('it is 4'));
const unproven = (): Promise<string> => Promise.reject(new Unproven('no root; unproven: limits'));

describe('CheckList', () => {
  it('shows a line for each check, with why one failed and what a skipped one leaves unproven', async () => {
    const { context, stdout } = contextWith({ json: false });
    const checks = new CheckList(context);
    await expect(checks.check('first', passing)).resolves.toBe(true);
    await expect(checks.check('second', failing)).resolves.toBe(false);
    await expect(checks.check('third', unproven)).resolves.toBe(false);
    expect(() => checks.finish()).toThrow(
      expect.objectContaining({ code: 'CLI_CHECK_FAILED', message: 'failed: second' }),
    );
    expect(stdout.text.split('\n')).toEqual([
      'PASS  first: seen',
      'FAIL  second: it is 4',
      'SKIP  third: no root; unproven: limits',
      '1 passed, 1 failed, 1 skipped; what was skipped is unproven',
      '',
    ]);
  });

  it('prints one JSON document, and passes when something was skipped but nothing failed', async () => {
    const { context, stdout } = contextWith({ json: true });
    const checks = new CheckList(context);
    await checks.check('first', passing);
    await checks.check('second', unproven);
    checks.finish();
    expect(JSON.parse(stdout.text)).toMatchObject({
      passed: 1,
      failed: 0,
      skipped: 1,
      checks: [
        { name: 'first', status: 'PASS', detail: 'seen' },
        { name: 'second', status: 'SKIP', detail: 'no root; unproven: limits' },
      ],
    });
  });

  it('is given up by its caller, not failed', async () => {
    const { context } = contextWith({ json: false });
    const checks = new CheckList({ ...context, signal: AbortSignal.abort(new Error('interrupted')) });
    await expect(checks.check('first', failing)).rejects.toThrow('interrupted');
    expect(checks.isPassed).toBe(true);
  });
});
