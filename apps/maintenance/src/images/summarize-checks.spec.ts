import { sizeOfImages } from './disk-use';
import { summarizeChecks } from './summarize-checks';

describe('summarizeChecks', () => {
  it('names failures first and never counts what was unchecked as passed', () => {
    const checks = (['passed', 'passed', 'unchecked', 'failed'] as const).map((outcome) => ({ outcome }));
    expect(summarizeChecks(checks)).toBe('1 failed, 2 passed, 1 unchecked');
    expect(summarizeChecks([{ outcome: 'unchecked' }])).toBe('1 unchecked');
  });

  it('says so when none was run', () => {
    expect(summarizeChecks([])).toBe('none run yet');
  });
});

describe('sizeOfImages', () => {
  it('adds up every version that has its files, and takes an unknown size for nothing', () => {
    const versions = [
      { sizeBytes: 5, isRemoved: false },
      { sizeBytes: null, isRemoved: false },
      { sizeBytes: 7, isRemoved: false },
      { sizeBytes: 100, isRemoved: true },
    ];
    expect(sizeOfImages([{ versions }, { versions: [] }])).toBe(12);
  });
});
