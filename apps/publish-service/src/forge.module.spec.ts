import { loadConfig } from '@inquest/config';
import { forgeFor } from './forge.module';
import { PublishServiceConfig } from './publish-service.config';

const REQUIRED = { INQUEST_HOME: '/tmp/inquest', INQUEST_URL_SIGNING_KEY: 'k'.repeat(32) };
const GITEA = {
  INQUEST_FORGE: 'gitea',
  INQUEST_GITEA_URL: 'https://example.org/git',
  INQUEST_GITEA_OWNER: 'studio',
  INQUEST_GITEA_TOKEN_FILE: '/run/secrets/gitea-token',
};
const forgeOf = (env: Record<string, string>) =>
  forgeFor(loadConfig(PublishServiceConfig, { ...REQUIRED, ...env }, { serviceName: 'publish-service' }));

describe('the forge of a configuration', () => {
  it.each([
    ['a bare one unless it says otherwise', {}, 'bare'],
    ['Gitea when it says so', GITEA, 'gitea'],
  ])('is %s', (_, env, name) => {
    expect(forgeOf(env)?.name).toBe(name);
  });

  it('is none when nothing is to be published', () => {
    expect(forgeOf({ INQUEST_FORGE: 'none' })).toBeNull();
  });

  it.each(['INQUEST_GITEA_URL', 'INQUEST_GITEA_OWNER', 'INQUEST_GITEA_TOKEN_FILE'])(
    'is refused without %s, which the error names',
    (variable) => {
      expect(() => forgeOf({ ...GITEA, [variable]: '' })).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(variable) }),
      );
    },
  );

  it.each([
    ['INQUEST_FORGE', 'github'],
    ['INQUEST_GITEA_URL', 'http://gitea:3000'],
    ['INQUEST_GITEA_URL', 'https://robot:secret@example.org'],
    ['INQUEST_GITEA_OWNER', '../studio'],
    ['INQUEST_GITEA_TOKEN_FILE', 'token'],
    ['INQUEST_BRANCH_POLICY', 'force'],
  ])('is refused with %s=%s, and what could be a secret is not shown', (variable, value) => {
    const message = expect.stringMatching(new RegExp(`^(?=.*${variable})(?!.*secret@)`));
    expect(() => forgeOf({ ...GITEA, [variable]: value })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message }),
    );
  });

  it('takes http to another host once that is allowed', () => {
    const env = { ...GITEA, INQUEST_GITEA_URL: 'http://gitea:3000', INQUEST_GITEA_ALLOW_HTTP: 'true' };
    expect(forgeOf(env)?.name).toBe('gitea');
  });
});
