// A whole platform of the benchmark's own: all services, in a home directory that is removed afterwards.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { defaultServices, stackLayout, stackStatus, startStack, stopStack } from '@inquest/stack';
import { workspaceRoot } from '../workspace/projects.mjs';

const LONG_POLL_MS = 20_000;
/** A build or a freeze on a machine five times slower than a quiet one. */
const OPERATION_MS = 300_000;

export class Platform {
  #url = '';
  #token = '';

  /** @param {string} home */
  constructor(home) {
    this.home = home;
  }

  /** On the file system of `/var/tmp`: machines are not to compete for memory with their disks. */
  static async create() {
    return new Platform(await mkdtemp('/var/tmp/inquest-bench-'));
  }

  /** @param {Record<string, string>} vmServiceEnv */
  async start(vmServiceEnv = {}) {
    const services = defaultServices({ repositoryRoot: workspaceRoot, model: null, scenario: null });
    const declared = services.map((service) =>
      service.name === 'vm-service' ? { ...service, env: { ...service.env, ...vmServiceEnv } } : service,
    );
    const declaration = { services: declared, nodeId: 'bench', pgBin: process.env.PG_BIN ?? null };
    const { gatewayUrl } = await startStack({ home: this.home, declaration });
    this.#url = gatewayUrl;
    this.#token = (await readFile(stackLayout(this.home).token, 'utf8')).trim();
  }

  async stop() {
    await stopStack(this.home);
  }

  async remove() {
    await this.stop();
    await rm(this.home, { recursive: true, force: true });
  }

  /** Process ids by name of the service, the supervisor among them. */
  async processes() {
    const { services, state } = await stackStatus(this.home);
    const all = [...services, { name: 'supervisor', process: state.supervisor }];
    return new Map(all.flatMap(({ name, process }) => (process === null ? [] : [[name, process.pid]])));
  }

  /** @param {string} method @param {string} where @param {RequestInit & {duplex?: 'half'}} init */
  async request(method, where, init = {}) {
    const headers = { authorization: `Bearer ${this.#token}`, ...init.headers };
    const answer = await fetch(this.#url + where, { ...init, method, headers });
    if (!answer.ok) throw new Error(`${method} ${where}: ${answer.status} ${(await answer.text()).slice(0, 500)}`);
    return answer;
  }

  /** @param {string} method @param {string} where @param {object} [body] */
  async call(method, where, body) {
    const content = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return (await this.request(method, where, content)).json();
  }

  /** Follows a long operation to its end. */
  async operate(where) {
    const { operationId } = await this.call('POST', where, {});
    const deadline = performance.now() + OPERATION_MS;
    for (;;) {
      const operation = await this.call('GET', `/v1/operations/${operationId}?waitMs=${LONG_POLL_MS}`);
      if (operation.state === 'succeeded') return;
      if (operation.state !== 'running') throw new Error(`${where}: ${operation.error?.message ?? operation.state}`);
      if (performance.now() > deadline) throw new Error(`${where} takes longer than ${OPERATION_MS} ms`);
    }
  }

  /** A machine that is ready. @param {object} wishes */
  async startMachine(wishes = {}) {
    const machine = await this.call('POST', '/v1/machines', { image: 'tiny', ...wishes });
    return machine.state === 'ready' ? machine : this.waitFor(machine.machineId, 'ready');
  }

  /** @param {string} machineId @param {string} state */
  async waitFor(machineId, state) {
    for (;;) {
      const where = `/v1/machines/${machineId}/wait?state=${state}&state=ended&waitMs=${LONG_POLL_MS}`;
      const machine = await this.call('GET', where);
      if (machine.state === state) return machine;
      if (machine.state === 'ended') throw new Error(`machine ${machineId} ended: ${machine.message}`);
    }
  }

  /** @param {string} machineId */
  removeMachine(machineId) {
    return this.call('DELETE', `/v1/machines/${machineId}`);
  }

  /** Files of the version that the machines run on. */
  imageFile(name) {
    return path.join(this.home, 'images', 'tiny', '1', name);
  }

  /** Directory of the monitor of a machine's first incarnation, as it stands in its arguments. */
  instanceOf(machineId) {
    return path.join(this.home, 'machines', `${machineId}_1`);
  }
}
