import { templateText } from './template-text';

describe('templateText', () => {
  it.each([
    [[], '-'],
    [[{ node: 'a', state: 'ready', detail: '' }], 'ready (machines start as clones)'],
    [
      [{ node: 'a', state: 'outdated', detail: 'it was made by QEMU 7' }],
      'outdated (machines start cold): it was made by QEMU 7',
    ],
    [
      [
        { node: 'a', state: 'ready', detail: '' },
        { node: 'b', state: 'missing', detail: '' },
      ],
      'a ready (machines start as clones); b missing (machines start cold)',
    ],
  ] as const)('says of %j: %s', (templates, text) => {
    expect(templateText(templates)).toBe(text);
  });
});
