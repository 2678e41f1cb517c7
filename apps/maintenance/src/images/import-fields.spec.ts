import { digestOf } from './import-fields';

const HEX = 'ab'.repeat(32);

describe('digestOf', () => {
  it.each([HEX, `sha256:${HEX}`, ` ${HEX.toUpperCase()}\n`, `${HEX}  disk.qcow2\n`])('takes %j', (pasted) => {
    expect(digestOf(pasted)).toBe(`sha256:${HEX}`);
  });

  it.each(['', HEX.slice(1), `${HEX}0`, `sha512:${HEX}`, 'disk.qcow2'])('takes %j for none', (pasted) => {
    expect(digestOf(pasted)).toBeNull();
  });
});
