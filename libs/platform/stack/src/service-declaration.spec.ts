import { defaultServices, dependenciesOf, startLevels, type ServiceDeclaration } from './service-declaration';
import { natsUsers } from './nats-users';

const service = (name: string, fields: Partial<ServiceDeclaration> = {}): ServiceDeclaration => ({
  name,
  entry: `/${name}.js`,
  env: {},
  urlEnv: {},
  after: [],
  platform: null,
  ...fields,
});

describe('startLevels', () => {
  it('puts a service one level above the deepest that it needs', () => {
    const levels = startLevels([
      service('model'),
      service('agent', { platform: { scope: 'agent' }, urlEnv: { URL: { of: 'model', path: '' } } }),
      service('gateway', { after: ['agent', 'model'] }),
    ]);
    expect(Object.fromEntries(levels)).toEqual({ 'nats-server': 0, postgres: 0, model: 0, agent: 1, gateway: 2 });
  });

  it('refuses a service that needs one declared after it, so no circle is possible', () => {
    const circle = [service('a', { after: ['b'] }), service('b', { after: ['a'] })];
    expect(() => startLevels(circle)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });

  it.each([['../x'], ['postgres'], ['']])('refuses the name %j', (name) => {
    expect(() => startLevels([service(name)])).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});

describe('defaultServices', () => {
  const options = { repositoryRoot: '/repo', model: null, scenario: null };

  it('starts the gateway last and asks the scripted model', () => {
    const services = defaultServices(options);
    const levels = startLevels(services);
    expect(Math.max(...levels.values())).toBe(levels.get('gateway'));
    const agent = services.find(({ name }) => name === 'agent-service') as ServiceDeclaration;
    expect(dependenciesOf(agent)).toEqual(['nats-server', 'postgres', 'scripted-model']);
  });

  it('starts no scripted model when there is a real one', () => {
    const model = { url: 'https://models.example/v1', name: 'm', apiKey: 'k' };
    const services = defaultServices({ ...options, model });
    expect(services.map(({ name }) => name)).not.toContain('scripted-model');
    expect(services.find(({ name }) => name === 'agent-service')?.env).toEqual({
      INQUEST_MODEL_URL: 'https://models.example/v1',
      INQUEST_MODEL_NAME: 'm',
      INQUEST_MODEL_API_KEY: 'k',
    });
  });
});

describe('natsUsers', () => {
  it('lets only the owner of a scope answer its commands and publish its events', () => {
    const services = defaultServices({ repositoryRoot: '/repo', model: null, scenario: null });
    const passwords = Object.fromEntries(services.map(({ name }) => [name, `password of ${name}`]));
    const users = natsUsers(services, passwords);
    const allowed = (subject: string, side: 'publish' | 'subscribe'): string[] =>
      users.filter((user) => user[side].includes(subject)).map(({ user }) => user);
    expect(allowed('inquest.v1.evt.vm.>', 'publish')).toEqual(['vm-service']);
    expect(allowed('inquest.v1.cmd.vm.>', 'subscribe')).toEqual(['vm-service']);
    expect(users.map(({ user }) => user)).not.toContain('scripted-model');
  });
});
