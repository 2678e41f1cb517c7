import { EscapeKeys } from './escape-keys';

/** What the guest gets of keys that come in these pieces, and what is asked of vmctl. */
function typed(...pieces: readonly string[]): { readonly guest: string; readonly actions: readonly string[] } {
  const keys = new EscapeKeys();
  const taken = pieces.map((piece) => keys.take(Buffer.from(piece)));
  return {
    guest: Buffer.concat(taken.map(({ forGuest }) => forGuest)).toString(),
    actions: taken.flatMap(({ actions }) => actions),
  };
}

describe('EscapeKeys', () => {
  it.each([
    ['at the very beginning', ['~.']],
    ['behind a line', ['ls\r~.']],
    ['in two pieces', ['ls\r', '~', '.']],
  ])('leaves for ~. %s', (_, pieces) => {
    expect(typed(...pieces).actions).toEqual(['leave']);
  });

  it('passes on nothing that follows', () => {
    expect(typed('~.rm -rf /\r')).toEqual({ guest: '', actions: ['leave'] });
    expect(typed('~kx')).toEqual({ guest: '', actions: ['end'] });
  });

  it('goes on after the list of keys', () => {
    expect(typed('~?ls\r')).toEqual({ guest: 'ls\r', actions: ['help'] });
  });

  it.each([
    ['in the middle of a line', 'cd ~.\r', 'cd ~.\r'],
    ['doubled', '~~.\r', '~.\r'],
    ['before any other key', '~/bin\r', '~/bin\r'],
    ['twice in a line', 'a~~.\r', 'a~~.\r'],
  ])('gives a tilde %s to the guest', (_, keys, guest) => {
    expect(typed(keys)).toEqual({ guest, actions: [] });
  });

  it('changes no byte', () => {
    const every = Uint8Array.from({ length: 256 }, (_, value) => value);
    const keys = new EscapeKeys();
    expect(keys.take(Buffer.concat([Buffer.from('x'), every])).forGuest).toEqual(
      Buffer.concat([Buffer.from('x'), every]),
    );
  });
});
