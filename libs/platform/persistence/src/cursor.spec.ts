import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor';

describe('a page token', () => {
  it('gives back the cursor it was made of', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), id, (at, name) => {
        expect(decodeCursor(encodeCursor({ at, id: name }))).toEqual({ at, id: name });
      }),
    );
  });

  it('is null for the first page', () => {
    expect(decodeCursor(null)).toBeNull();
  });

  it.each([
    '',
    'x',
    '%%%',
    Buffer.from('1').toString('base64url'),
    Buffer.from("1:a'--").toString('base64url'),
    'A'.repeat(300),
  ])('is refused when it is %j', (token) => {
    expect(() => decodeCursor(token)).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID', status: 400 }));
  });

  it('never crashes the decoder', () => {
    fc.assert(
      fc.property(fc.string(), (token) => {
        try {
          decodeCursor(token);
        } catch (e) {
          expect(e).toMatchObject({ code: 'CURSOR_INVALID' });
        }
      }),
    );
  });
});
