import { Figures, GOALS, table } from './figures.mjs';
import { inTurn, p50, p90 } from './statistics.mjs';

describe('the figures of the benchmark', () => {
  it('says of each goal whether it was met, missed or not measured, and why', () => {
    const figures = new Figures();
    figures.set('clone_p50_ms', 199.96, '20 clones');
    figures.set('put_vs_raw_ratio', 0.5, 'slow');
    figures.miss(['put_vs_raw_ratio', 'claim_p50_ms'], 'no template');
    const report = figures.report();
    expect(report.map(({ name }) => name)).toEqual(GOALS.map(({ name }) => name));
    const of = (name: string) => report.find((figure) => figure.name === name);
    expect(of('clone_p50_ms')).toEqual({
      name: 'clone_p50_ms',
      value: 200,
      unit: 'ms',
      goal: 200,
      status: 'ok',
      why: '20 clones',
    });
    expect(of('put_vs_raw_ratio')).toMatchObject({ value: 0.5, status: 'short', why: 'slow' });
    expect(of('claim_p50_ms')).toMatchObject({ value: null, status: 'not_run', why: 'no template' });
    expect(of('launch_check_ms')).toMatchObject({ value: null, status: 'not_run', why: 'not reached' });
  });

  it('refuses a measurement that is none', () => {
    expect(() => new Figures().set('clone_p50_ms', NaN, '')).toThrow(TypeError);
  });

  it('is a table with a line for each goal', () => {
    const lines = table(new Figures().report()).split('\n');
    expect(lines).toHaveLength(GOALS.length + 2);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  });
});

describe('what is told of repeated measurements', () => {
  it('is a value that was measured', () => {
    expect(p50([3, 1, 2])).toBe(2);
    expect(p90([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])).toBe(10);
    expect(p50([7])).toBe(7);
  });

  it('is taken in turn, every other round backwards', async () => {
    const order: string[] = [];
    const note = (name: string) => async (): Promise<number> => order.push(name);
    await expect(inTurn(2, { a: note('a'), b: note('b') })).resolves.toEqual({ a: [1, 4], b: [2, 3] });
    expect(order).toEqual(['a', 'b', 'b', 'a']);
  });
});
