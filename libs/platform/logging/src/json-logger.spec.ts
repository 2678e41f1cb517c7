import { defineErrors } from '@inquest/kernel';
import { JsonLogger } from './json-logger';
import type { LogEntry } from './log-entry';
import { Redactor } from './redactor';
import { runWithTrace } from './trace';

const fail = defineErrors({
  DISK_FULL: { fault: 'infra', status: 507, when: 'The disk is full.', remediation: 'Free space.' },
});

function logged(use: (logger: JsonLogger) => void, redactor = new Redactor()): LogEntry[] {
  const lines: string[] = [];
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  use(new JsonLogger({ service: 'probe', write: (line) => void lines.push(line), clock, redactor }));
  return lines.map((line) => {
    expect(line).toMatch(/^[^\n]*\n$/);
    return JSON.parse(line) as LogEntry;
  });
}

describe('JsonLogger', () => {
  it('writes one line of JSON per entry, with the trace id', () => {
    const entries = logged((logger) => runWithTrace('t-1', () => logger.log('started\nnow', 'Main')));
    expect(entries).toEqual([
      {
        time: '1970-01-01T00:00:00.000Z',
        level: 'log',
        service: 'probe',
        traceId: 't-1',
        context: 'Main',
        msg: 'started\nnow',
      },
    ]);
  });

  it('logs an error with its code and its causes', () => {
    const cause = new Error('ENOSPC');
    const [entry] = logged((logger) => logger.error('cannot write', fail('DISK_FULL', 'no room', {}, cause), 'Disk'));
    expect(entry).toMatchObject({
      msg: 'cannot write',
      context: 'Disk',
      err: { code: 'DISK_FULL', message: 'no room', cause: { message: 'ENOSPC' } },
    });
  });

  it('takes the stack that Nest passes as a string', () => {
    const [entry] = logged((logger) => logger.error('boom', 'Error: boom\n    at main.ts:1', 'Main'));
    expect(entry).toMatchObject({ msg: 'boom', context: 'Main', err: { stack: 'Error: boom\n    at main.ts:1' } });
  });

  it('leaves out entries below its level', () => {
    expect(logged((logger) => logger.debug('detail'))).toEqual([]);
  });

  it('masks secrets in messages, errors and objects', () => {
    const redactor = new Redactor();
    redactor.register('hunter2-canary');
    const entries = logged((logger) => {
      logger.log('key hunter2-canary');
      logger.error(new Error('refused hunter2-canary'));
      logger.log({ nested: ['hunter2-canary'] });
    }, redactor);
    expect(entries).toHaveLength(3);
    expect(JSON.stringify(entries)).not.toContain('hunter2-canary');
  });

  it('survives cycles, big integers and hostile objects', () => {
    const cycle: Record<string, unknown> = { big: 7n };
    cycle['self'] = cycle;
    const hostile = {
      get value(): never {
        throw new Error('no');
      },
    };
    const shared = { ok: true };
    const [first, second, third] = logged((logger) => {
      logger.log('cycle', cycle);
      logger.log('hostile', hostile);
      logger.log('shared', [shared, shared]);
    });
    expect(first?.data).toEqual([{ big: '7', self: '[circular]' }]);
    expect(second?.msg).toBe('an entry could not be serialised');
    expect(third?.data).toEqual([[shared, shared]]);
  });

  it('bounds the length of a line', () => {
    const [text, list] = logged((logger) => {
      logger.log('x'.repeat(1_000_000));
      logger.log(
        'list',
        Array.from({ length: 1_000_000 }, () => 0),
      );
    });
    expect(text?.msg.length).toBeLessThan(20_000);
    expect(list?.data).toEqual([expect.stringContaining('characters left out')]);
  });
});
