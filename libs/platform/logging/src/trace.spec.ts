import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentTraceId, runWithTrace, traceIdFrom } from './trace';

describe('trace ids', () => {
  it('follow the work across awaits and do not mix', async () => {
    const seen = await Promise.all(
      ['a', 'b'].map((id) =>
        runWithTrace(id, async () => {
          await nextTurn();
          return currentTraceId();
        }),
      ),
    );
    expect(seen).toEqual(['a', 'b']);
    expect(currentTraceId()).toBeNull();
  });

  it('are taken from the caller when they are safe', () => {
    expect(traceIdFrom('abc-1.2_3')).toBe('abc-1.2_3');
  });

  it.each([undefined, '', 'a\nb', 'x'.repeat(65), ['a'], 'a b'])('are fresh in place of %j', (sent) => {
    expect(traceIdFrom(sent)).toMatch(/^[0-9a-f]{16}$/);
  });
});
