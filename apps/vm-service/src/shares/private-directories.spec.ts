import { whyPrivate } from './private-directories';

describe('whyPrivate', () => {
  const facts = {
    mode: 0o40755,
    platformHome: '/var/lib/inquest',
    userHomes: ['/root', '/home/ada', '/var/lib/postgresql'],
  };
  const why = (directory: string, mode = facts.mode): string | null => whyPrivate({ ...facts, directory, mode });

  it.each([
    '/srv/docs',
    '/home/ada/project',
    '/home/ada/a/.git',
    '/usr/share/doc',
    '/tmp/work',
    '/etcetera',
    '/rooted',
  ])('lets a guest see %s', (directory) => {
    expect(why(directory)).toBeNull();
  });

  it.each([
    ['/', 'whole host'],
    ['/etc', 'system'],
    ['/etc/ssh', 'system'],
    ['/proc/1', 'system'],
    ['/run', 'system'],
    ['/home', 'holds the home directory /home/ada'],
    ['/home/ada', 'is a home directory'],
    ['/root', 'is a home directory'],
    ['/home/ada/.ssh', 'hidden'],
    ['/home/ada/.config/gh', 'hidden'],
    ['/var/lib/inquest', 'this platform'],
    ['/var/lib/inquest/projects', 'this platform'],
    ['/var/lib', 'this platform'],
    ['/var', 'this platform'],
  ])('refuses %s, because it %s', (directory, reason) => {
    expect(why(directory)).toContain(reason);
  });

  it('refuses a directory for the temporary files of everybody, by its mode and not by its name', () => {
    expect(why('/scratch', 0o41777)).toContain('temporary files');
    expect(why('/scratch', 0o40777)).toBeNull();
  });
});
