import { IsBoolean, IsInt, IsOptional, IsString, Max, MinLength } from 'class-validator';
import { describeConfig } from './describe-config';
import { Env } from './env.decorator';
import { loadConfig, secretsOf } from './load-config';
import { ServiceConfig } from './service.config';

class ProbeConfig {
  @IsString() readonly name!: string;

  @Env('PROBE_PORT', { description: 'Where to listen', default: '8080' })
  @IsInt()
  @Max(65_535)
  readonly port!: number;

  @Env('PROBE_HOSTS', { description: 'Hosts', default: 'a, b' })
  @IsString({ each: true })
  readonly hosts!: string[];

  @Env('PROBE_VERBOSE', { description: 'Say more', default: 'false' })
  @IsBoolean()
  readonly isVerbose!: boolean;

  @Env('PROBE_KEY', { description: 'Key', secret: true })
  @MinLength(8)
  readonly key!: string;

  @Env('PROBE_NOTE', { description: 'Note' })
  @IsOptional()
  @IsString()
  readonly note?: string;
}

const fixed = { name: 'probe' };

describe('loadConfig', () => {
  it('converts by declared type and fills in defaults', () => {
    const env = { PROBE_PORT: '0', PROBE_VERBOSE: 'true', PROBE_KEY: 'long enough' };
    const config = loadConfig(ProbeConfig, env, fixed);
    expect(config).toEqual({ name: 'probe', port: 0, hosts: ['a', 'b'], isVerbose: true, key: 'long enough' });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('takes an empty variable for an unset one', () => {
    expect(loadConfig(ProbeConfig, { PROBE_PORT: '', PROBE_KEY: 'long enough' }, fixed).port).toBe(8080);
  });

  it('names everything that is wrong at once, and no secret', () => {
    const env = { PROBE_PORT: 'eighty', PROBE_VERBOSE: 'yes', PROBE_KEY: 'hunter2' };
    expect.assertions(5);
    try {
      loadConfig(ProbeConfig, env, fixed);
    } catch (e) {
      expect(e).toMatchObject({ code: 'CONFIG_INVALID', details: { variables: 3 } });
      const { message } = e as Error;
      expect(message).toContain('PROBE_PORT must be an integer number');
      expect(message).toContain('it is "eighty"');
      expect(message).toContain('PROBE_VERBOSE');
      expect(message).not.toContain('hunter2');
    }
  });

  it('says that a required variable is not set', () => {
    expect(() => loadConfig(ProbeConfig, {}, fixed)).toThrow(/PROBE_KEY .*\(it is not set\)/);
  });

  it('knows the secrets of a configuration', () => {
    expect(secretsOf(loadConfig(ProbeConfig, { PROBE_KEY: 'long enough' }, fixed))).toEqual(['long enough']);
  });
});

describe('describeConfig', () => {
  it('has one row per variable', () => {
    expect(describeConfig(ProbeConfig).map((row) => [row.variable, row.type, row.isRequired, row.isSecret])).toEqual([
      ['PROBE_PORT', 'number', false, false],
      ['PROBE_HOSTS', 'list', false, false],
      ['PROBE_VERBOSE', 'boolean', false, false],
      ['PROBE_KEY', 'string', true, true],
      ['PROBE_NOTE', 'string', false, false],
    ]);
  });
});

describe('ServiceConfig', () => {
  const env = { INQUEST_URL_SIGNING_KEY: 'k'.repeat(32) };
  const service = { serviceName: 'probe-service' };

  it('needs only the signing key', () => {
    expect(loadConfig(ServiceConfig, env, service)).toMatchObject({
      httpHost: '127.0.0.1',
      httpPort: 0,
      natsUrl: 'nats://127.0.0.1:4222',
      nodeId: 'local',
      tokenSha256: [],
      httpAllowedHosts: [],
    });
  });

  it.each([
    ['INQUEST_TOKEN_SHA256', 'abc'],
    ['INQUEST_HOME', 'relative'],
    ['INQUEST_NODE_ID', 'a.b'],
    ['INQUEST_HTTP_PORT', '65536'],
    ['INQUEST_NATS_URL', 'nats://user:password@host:4222'],
    ['INQUEST_LOG_LEVEL', 'loud'],
    ['INQUEST_URL_SIGNING_KEY', 'short'],
  ])('refuses a wrong %s', (variable, value) => {
    expect(() => loadConfig(ServiceConfig, { ...env, [variable]: value }, service)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(variable) as string }),
    );
  });
});
