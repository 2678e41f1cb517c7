import { CORPUS, evaluateCorpus, evaluateFamilies, heldLabels } from './index';

// The goal of the product for both measures.
const GOAL = 0.98;

describe('the scratch filter on the labelled corpus', () => {
  const { precision, recall, mistakes } = evaluateCorpus();

  it('covers at least forty projects and seven hundred labelled files', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(CORPUS.map(({ name }) => name)).size).toBe(CORPUS.length);
    expect(CORPUS.flatMap((project) => [...project.keep, ...heldLabels(project)]).length).toBeGreaterThanOrEqual(700);
  });

  it('labels no file twice', () => {
    for (const project of CORPUS) {
      const paths = [...project.tracked, ...project.keep, ...heldLabels(project)];
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

  it('lets no secret through, and holds nothing for one that is none', () => {
    expect(evaluateFamilies().find(({ family }) => family === 'secret')).toMatchObject({ precision: 1, recall: 1 });
  });
});

describe('evaluateCorpus', () => {
  const project = { name: 'x', tracked: [], keep: ['a.log', 'a.c'], hold: { dropping: ['b.log'], throwaway: ['b.c'] } };
  const mistakes = [
    { project: 'x', path: 'a.log', label: 'keep', family: 'dropping', rule: 'dropping/log' },
    { project: 'x', path: 'b.c', label: 'hold', family: 'throwaway', rule: null },
  ];

  it('counts a deliverable that is held against precision, and scratch that is kept against recall', () => {
    expect(evaluateCorpus([project])).toEqual({
      scratchCount: 2,
      heldRightlyCount: 1,
      precision: 0.5,
      recall: 0.5,
      mistakes,
    });
  });

  it('counts them for the kind of the rule, and for the kind of the label', () => {
    const scores = evaluateFamilies([project]);
    expect(scores.find(({ family }) => family === 'dropping')).toMatchObject({ precision: 0.5, recall: 1 });
    expect(scores.find(({ family }) => family === 'throwaway')).toMatchObject({ precision: 1, recall: 0 });
    expect(scores.find(({ family }) => family === 'agent')).toMatchObject({ scratchCount: 0, precision: 1, recall: 1 });
  });
});
