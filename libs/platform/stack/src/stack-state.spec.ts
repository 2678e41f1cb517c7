import { announcedUrl } from './node-service';
import { resolveHome, stackLayout } from './stack-layout';
import { parseStackState } from './stack-state';
import { pickUser } from './unprivileged-user';

const status = {
  name: 'gateway',
  state: 'running',
  process: { pid: 4711, startTicks: 99 },
  url: 'http://127.0.0.1:1',
  logFile: '/home/logs/gateway.log',
  restarts: 0,
  lastFailure: null,
};
const state = {
  formatVersion: 1,
  state: 'running',
  failure: null,
  startedAtMs: 1,
  supervisor: { pid: 4700, startTicks: 98 },
  services: [status],
  gatewayUrl: null,
  natsUrl: null,
  databaseUrl: null,
};

describe('parseStackState', () => {
  it('reads what the supervisor writes', () => {
    expect(parseStackState(JSON.stringify(state), 'stack.json')).toEqual(state);
  });

  it.each([
    ['nothing', ''],
    ['half a file', JSON.stringify(state).slice(0, 80)],
    ['a pid that kill(2) takes for everybody', JSON.stringify({ ...state, supervisor: { pid: -1, startTicks: 1 } })],
    ['the pid of init', JSON.stringify({ ...state, services: [{ ...status, process: { pid: 1, startTicks: 1 } }] })],
    ['an unknown state', JSON.stringify({ ...state, state: 'fine' })],
    ['another format', JSON.stringify({ ...state, formatVersion: 2 })],
  ])('refuses %s', (_, text) => {
    expect(() => parseStackState(text, 'stack.json')).toThrow(expect.objectContaining({ code: 'STACK_STATE_INVALID' }));
  });
});

describe('announcedUrl', () => {
  it('takes only the announcement of this process', () => {
    const text = JSON.stringify({ pid: 7, port: 80, url: 'http://127.0.0.1:80/' });
    expect(announcedUrl(text, 7)).toBe('http://127.0.0.1:80');
    expect(announcedUrl(text, 8)).toBeNull();
  });

  it.each([null, '', '{"pid":7', '{"pid":7,"url":"not a url"}', '[]', 'null'])('takes nothing from %j', (text) => {
    expect(announcedUrl(text, 7)).toBeNull();
  });
});

describe('resolveHome', () => {
  it('prefers INQUEST_HOME, made absolute', () => {
    expect(resolveHome({ INQUEST_HOME: '/x/../y' }, false)).toBe('/y');
  });

  it('is a system directory for root and a personal one for anybody else', () => {
    expect(resolveHome({ HOME: '/root' }, true)).toBe('/var/lib/inquest');
    expect(resolveHome({ HOME: '/home/ada', INQUEST_HOME: '' }, false)).toBe('/home/ada/.local/share/inquest');
  });
});

describe('stackLayout', () => {
  it('keeps the lock outside the directory that is removed', () => {
    const layout = stackLayout('/h');
    expect(layout.lock.startsWith(layout.run)).toBe(false);
    expect(layout.state.startsWith(layout.run)).toBe(true);
  });
});

describe('pickUser', () => {
  it('prefers the user made for Postgres', () => {
    const passwd = 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65533::/:/x\npostgres:x:101:104::/:/bin/bash\n';
    expect(pickUser(passwd)).toEqual({ uid: 101, gid: 104 });
  });

  it('takes nobody where Postgres was never installed', () => {
    expect(pickUser('root:x:0:0::/:/bin/sh\nnobody:x:65534:65533::/:/x\n')).toEqual({ uid: 65534, gid: 65533 });
  });
});
