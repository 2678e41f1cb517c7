import { verbHeadline } from './verb-headline';

describe('verbHeadline', () => {
  it('shows the argument that says what the call does', () => {
    expect(verbHeadline({ arguments: { cwd: '/', command: 'make\n  test' } })).toBe('make test');
    expect(verbHeadline({ arguments: { path: '/mnt/project/a.sh', content: 'x' } })).toBe('/mnt/project/a.sh');
  });

  it('shows all of arguments that it does not know, and nothing for none', () => {
    expect(verbHeadline({ arguments: { limit: 3 } })).toBe('{"limit":3}');
    expect(verbHeadline({ arguments: {} })).toBe('');
    expect(verbHeadline({ arguments: null })).toBe('');
  });

  it('lets no control character through', () => {
    expect(verbHeadline({ arguments: { command: 'echo \u001b[31mred\u202e' } })).toBe('echo red');
  });
});
