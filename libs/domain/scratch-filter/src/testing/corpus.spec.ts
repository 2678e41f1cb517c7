import { CORPUS, evaluateCorpus } from './index';

// The goal of the product for both measures.
const GOAL = 0.98;

describe('the scratch filter on the labelled corpus', () => {
  const { precision, recall, mistakes } = evaluateCorpus();

  it('covers at least fifteen projects and two hundred labelled files', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(15);
    expect(CORPUS.flatMap(({ keep, hold }) => [...keep, ...hold]).length).toBeGreaterThanOrEqual(200);
  });

  it('labels no file twice', () => {
    for (const { tracked, keep, hold } of CORPUS) {
      const paths = [...tracked, ...keep, ...hold];
      expect(paths).toHaveLength(new Set(paths).size);
    }
  });

  it('holds hardly any deliverable', () => {
    const heldDeliverables = mistakes.filter(({ label }) => label === 'keep');
    expect({ isAtGoal: precision >= GOAL, precision, heldDeliverables }).toMatchObject({ isAtGoal: true });
  });

  it('lets hardly any scratch through', () => {
    const missedScratch = mistakes.filter(({ label }) => label === 'hold');
    expect({ isAtGoal: recall >= GOAL, recall, missedScratch }).toMatchObject({ isAtGoal: true });
  });
});

describe('evaluateCorpus', () => {
  it('counts a deliverable that is held against precision, and scratch that is kept against recall', () => {
    const score = evaluateCorpus([{ name: 'x', tracked: [], keep: ['a.log', 'a.c'], hold: ['b.log', 'b.c'] }]);
    expect(score).toEqual({
      heldRightlyCount: 1,
      precision: 0.5,
      recall: 0.5,
      mistakes: [
        { project: 'x', path: 'a.log', label: 'keep', rule: 'dropping/log' },
        { project: 'x', path: 'b.c', label: 'hold', rule: null },
      ],
    });
  });
});
