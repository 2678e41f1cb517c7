import { OutputKeeper } from './kept-output';

const MIB = 1024 * 1024;

describe('OutputKeeper', () => {
  it('keeps short output whole', () => {
    const keeper = new OutputKeeper();
    keeper.write('one\n');
    keeper.write('two\n');
    expect(keeper.kept).toEqual({ text: 'one\ntwo\n', totalBytes: 8, droppedBytes: 0 });
  });

  it('keeps the head and the tail of endless output, and says what it left out', () => {
    const keeper = new OutputKeeper();
    for (let written = 0; written < 20; written++) keeper.write(Buffer.alloc(MIB, 'a'));
    const { text, totalBytes, droppedBytes } = keeper.kept;
    expect({ totalBytes, droppedBytes }).toEqual({ totalBytes: 20 * MIB, droppedBytes: 12 * MIB });
    expect(text).toContain(`[${12 * MIB} bytes left out]`);
    expect(text.length).toBeLessThan(8 * MIB + 100);
  });
});
