import { aligned } from './aligned';

describe('aligned', () => {
  it('puts the second of each pair into one column', () => {
    expect(
      aligned([
        ['vmctl up', 'starts'],
        ['vmctl down', 'stops'],
      ]),
    ).toEqual(['  vmctl up     starts', '  vmctl down   stops']);
  });

  it('leaves no blanks at the end of a line without a second', () => {
    expect(aligned([['vmctl ls', '']])).toEqual(['  vmctl ls']);
  });
});
