import { endOfStatus } from './started-through-shell';

describe('endOfStatus', () => {
  it.each([0, 1, 2, 127, 128])('takes %d for an exit code', (status) => {
    expect(endOfStatus(status)).toEqual({ code: status, signal: null });
  });

  it.each([
    [137, 'SIGKILL'],
    [139, 'SIGSEGV'],
    [134, 'SIGABRT'],
    [143, 'SIGTERM'],
  ])('takes %d for %s', (status, signal) => {
    expect(endOfStatus(status)).toEqual({ code: null, signal });
  });

  it('takes a status that is no signal of this system for an exit code', () => {
    expect(endOfStatus(255)).toEqual({ code: 255, signal: null });
  });
});
