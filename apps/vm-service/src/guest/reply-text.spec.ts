import { execOutputView, replyText } from './reply-text';

const output = (head: string | Uint8Array, tail: string | Uint8Array, totalBytes?: number) => {
  const [first, last] = [Buffer.from(head), Buffer.from(tail)];
  return { head: first, tail: last, totalBytes: totalBytes ?? first.length + last.length, isTruncated: false };
};
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

describe('output of a command in a reply', () => {
  it('is given whole when head and tail hold all of it, also where they meet inside a character', () => {
    const bytes = Buffer.from('zwölf');
    const view = execOutputView(output(bytes.subarray(0, 3), bytes.subarray(3)));
    expect(view).toEqual({ text: 'zwölf', isLossy: false, totalBytes: 6, droppedBytes: 0 });
  });

  it('says how much of its middle is missing and cuts no character', () => {
    const e = Buffer.from('é');
    const head = Buffer.concat([Buffer.from('ab'), e.subarray(0, 1)]);
    const tail = Buffer.concat([e.subarray(1), Buffer.from('yz')]);
    const view = execOutputView(output(head, tail, 100));
    expect(view).toEqual({ text: 'ab\n[96 bytes left out]\nyz', isLossy: false, totalBytes: 100, droppedBytes: 96 });
  });

  it('says that bytes which are no UTF-8 were replaced', () => {
    expect(execOutputView(output(Uint8Array.of(0xff), ''))).toMatchObject({ text: '\uFFFD', isLossy: true });
    expect(execOutputView(output('\uFFFD', ''))).toMatchObject({ text: '\uFFFD', isLossy: false });
  });

  it('fits into a message however long its bytes become in JSON', () => {
    const view = execOutputView(output(new Uint8Array(128 * 1024), new Uint8Array(128 * 1024)));
    expect(jsonBytes(view.text)).toBeLessThanOrEqual(448 * 1024);
    expect(view.totalBytes).toBe(256 * 1024);
    expect(view.droppedBytes).toBeGreaterThan(0);
    expect(view.text).toContain(`[${view.droppedBytes} bytes left out]`);
  });
});

describe('text of a file in a reply', () => {
  it('keeps all bytes of a short file, broken ones too', () => {
    expect(replyText(Buffer.from('ok'), false)).toEqual({ text: 'ok', isLossy: false, keptBytes: 2 });
    expect(replyText(Uint8Array.of(0x41, 0xc3), false)).toEqual({ text: 'A\uFFFD', isLossy: true, keptBytes: 2 });
  });

  it('leaves out the character that a limit cuts in two', () => {
    expect(replyText(Uint8Array.of(0x41, 0xc3), true)).toEqual({ text: 'A', isLossy: false, keptBytes: 1 });
  });

  it('fits into a message however long its bytes become in JSON', () => {
    const { text, keptBytes } = replyText(new Uint8Array(256 * 1024), false);
    expect(jsonBytes(text)).toBeLessThanOrEqual(448 * 1024);
    expect(keptBytes).toBe(64 * 1024);
  });
});
