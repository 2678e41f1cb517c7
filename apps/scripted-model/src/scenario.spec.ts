import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseScenario, turnAfter } from './scenario';

const scenario = (text: string) => parseScenario(text);

describe('parseScenario', () => {
  it('reads turns that say something, call verbs, or both', () => {
    const { turns } = scenario(
      'turns:\n - say: hello\n - calls: [{verb: run, arguments: {command: ls}}, {verb: done}]\n',
    );
    expect(turns).toEqual([
      { say: 'hello', calls: [] },
      {
        say: '',
        calls: [
          { verb: 'run', arguments: { command: 'ls' } },
          { verb: 'done', arguments: {} },
        ],
      },
    ]);
  });

  it('names everything that is wrong at once, with its path', () => {
    const text = 'turns:\n - say: 7\n - shout: x\n - calls: [{verb: ""}, {verb: run, arguments: []}, 5]\nmore: 1';
    expect(() => scenario(text)).toThrow(
      expect.objectContaining({
        code: 'SCENARIO_INVALID',
        message:
          'the scenario is invalid: more: no such property; turns[0].say: must be a text; turns[1].shout: no such property; ' +
          'turns[1]: must have say, calls or both; turns[2].calls[0].verb: must be the name of a verb; ' +
          'turns[2].calls[1].arguments: must be an object; turns[2].calls[2].verb: must be the name of a verb',
      }),
    );
  });

  it.each(['', 'turns: []', 'turns: 7', '[]', 'a: [', 'turns: [&a {say: x}, *a]', 'turns: [{say: x, say: y}]'])(
    'refuses %j',
    (text) => {
      expect(() => scenario(text)).toThrow(expect.objectContaining({ code: 'SCENARIO_INVALID' }));
    },
  );

  it('says that the script is over after its last turn', () => {
    const one = scenario('turns: [{say: hello}]');
    expect(turnAfter(one, 0, '').say).toBe('hello');
    expect(turnAfter(one, 1, '')).toMatchObject({ calls: [] });
  });

  it('plays the first variant whose words the request has, and else the turns', () => {
    const text = 'turns: [{say: plain}]\nvariants: [{when: Ask me, turns: [{say: a}]}, {when: me, turns: [{say: b}]}]';
    const played = (request: string) => turnAfter(scenario(text), 0, request).say;
    expect(['ask ME first', 'tell me', 'go'].map(played)).toEqual(['a', 'b', 'plain']);
  });

  it('names what is wrong with a variant', () => {
    const text = 'turns: [{say: x}]\nvariants: [{when: " ", turns: []}, {when: w, turns: [{}], more: 1}]';
    expect(() => scenario(text)).toThrow(
      expect.objectContaining({
        message:
          'the scenario is invalid: variants[0].when: must be words of a request; ' +
          'variants[0].turns: must be a list with at least one turn; variants[1].more: no such property; ' +
          'variants[1].turns[0]: must have say, calls or both',
      }),
    );
  });
});

describe('the quickstart scenario', () => {
  const { turns, variants } = scenario(
    readFileSync(path.join(__dirname, '..', 'scenarios', 'quickstart.yaml'), 'utf8'),
  );

  it('plans before it changes anything and ends with done', () => {
    const verbs = turns.flatMap(({ calls }) => calls.map(({ verb }) => verb));
    expect(verbs[0]).toBe('plan');
    expect(verbs.at(-1)).toBe('done');
    expect(verbs).toContain('git_commit');
  });

  it('asks first where it is asked to', () => {
    const asking = variants.find(({ when }) => when === 'ask me first');
    const verbs = asking?.turns.flatMap(({ calls }) => calls.map(({ verb }) => verb));
    expect(verbs).toEqual(['plan', 'write_file', 'ask', 'run', 'done']);
  });
});
