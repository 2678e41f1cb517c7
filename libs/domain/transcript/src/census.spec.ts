import { takeCensus, withGuestCounts } from './census';
import { SampleSession } from './testing/sample-transcript';

describe('takeCensus', () => {
  it('counts each verb with its endings and names the verbs that were never used', () => {
    const { entries } = new SampleSession()
      .verb('run', {}, '', 'ok')
      .verb('run', {}, '', 'refused')
      .verb('run', {}, '', 'failed')
      .verb('ask', {}, '')
      .verb('fly', {}, 'no such verb', 'error')
      .add('model_turn', { text: '', tokens: null });
    expect(takeCensus(entries, ['run', 'ask', 'scroll', 'click'])).toEqual({
      verbs: [
        { verb: 'run', count: 3, refused: 1, failed: 1, errors: 0 },
        { verb: 'ask', count: 1, refused: 0, failed: 0, errors: 0 },
        { verb: 'fly', count: 1, refused: 0, failed: 0, errors: 1 },
      ],
      neverUsed: ['click', 'scroll'],
      modelTurns: 1,
      differences: [],
    });
  });
});

describe('withGuestCounts', () => {
  const census = takeCensus([], []);

  it('reports only the counters on which the guest agent disagrees', () => {
    const { differences } = withGuestCounts(census, { exec: 3, put: 2 }, { exec: 3, put: 1, get: 4 });
    expect(differences).toEqual([
      { counter: 'get', transcript: 0, guest: 4 },
      { counter: 'put', transcript: 2, guest: 1 },
    ]);
  });
});
