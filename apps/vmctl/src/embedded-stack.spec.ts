import { embeddedStack } from './embedded-stack';

const envOf = (stack: ReturnType<typeof embeddedStack>, name: string) =>
  stack.services.find((service) => service.name === name)?.env;

describe('embeddedStack', () => {
  it('passes the settings of whoever starts it on to the services', () => {
    const stack = embeddedStack({ INQUEST_LOG_LEVEL: 'debug', INQUEST_IMPORT_DIRECTORY: '/srv/imports', PATH: '/bin' });
    expect(envOf(stack, 'image-service')).toEqual({
      INQUEST_LOG_LEVEL: 'debug',
      INQUEST_IMPORT_DIRECTORY: '/srv/imports',
    });
    expect(envOf(stack, 'gateway')).toEqual({ INQUEST_LOG_LEVEL: 'debug', INQUEST_IMPORT_DIRECTORY: '/srv/imports' });
  });

  it('keeps what the stack decides itself, and the token of the operator, from the services', () => {
    const stack = embeddedStack({
      INQUEST_TOKEN: 'operator-secret',
      INQUEST_URL: 'http://127.0.0.1:1',
      INQUEST_DATABASE_URL: 'postgres://elsewhere/db',
      INQUEST_HTTP_PORT: '80',
      INQUEST_HOME: '/elsewhere',
    });
    expect(envOf(stack, 'vm-service')).toEqual({});
    expect(JSON.stringify(stack)).not.toContain('operator-secret');
  });

  it('gives the model key to agent-service and to nobody else', () => {
    const stack = embeddedStack({ INQUEST_MODEL_URL: 'http://127.0.0.1:2/v1', INQUEST_MODEL_API_KEY: 'model-secret' });
    expect(envOf(stack, 'agent-service')).toMatchObject({ INQUEST_MODEL_API_KEY: 'model-secret' });
    expect(JSON.stringify(stack.services.filter(({ name }) => name !== 'agent-service'))).not.toContain('model-secret');
  });

  it('plays the scripted model when no endpoint is named', () => {
    expect(embeddedStack({}).services.map(({ name }) => name)).toContain('scripted-model');
  });
});
