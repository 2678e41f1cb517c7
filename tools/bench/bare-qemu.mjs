// QEMU alone, by the shortest way from nothing to a guest agent that answers: what the platform is measured against.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, open, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GuestAgentClient, openSerialMuxLink, synchronize } from '@inquest/guest-link';
import { QmpClient } from '@inquest/qmp';

const MEMORY_MIB = 256;
const ANSWER_MS = 120_000;
/** Until the init of the tiny image has nothing to do any more. */
const SETTLE_MS = 3_000;
const CAPABILITIES = ['x-ignore-shared', 'events'].map((capability) => ({ capability, state: true }));

/** @typedef {{kernel: string, initramfs: string, disk: string, accelerator: 'kvm' | 'tcg'}} GuestFiles */

/** Machines and one template of them, below one directory. */
export class BareQemu {
  #count = 0;
  #template = null;

  /** @param {string} directory must not exist @param {GuestFiles} files */
  static async create(directory, files) {
    const bare = new BareQemu();
    bare.directory = directory;
    bare.files = files;
    await mkdir(directory, { recursive: true });
    return bare;
  }

  /** Boots until the agent answers. @param {{withRawPort?: boolean}} options */
  async boot({ withRawPort = false } = {}) {
    const at = await this.#place();
    await this.#overlay(this.files.disk, 'raw', at('overlay.qcow2'));
    const raw = withRawPort
      ? [
          '-chardev',
          `socket,id=raw,path=${at('raw.sock')},server=on,wait=off`,
          '-device',
          'virtserialport,chardev=raw,name=raw',
        ]
      : [];
    return this.#run(at, { memory: ['-m', String(MEMORY_MIB)], more: raw, state: null });
  }

  /** Takes the template that `clone` continues. */
  async makeTemplate() {
    const at = await this.#place();
    await this.#overlay(this.files.disk, 'raw', at('overlay.qcow2'));
    const machine = await this.#run(at, { memory: memoryFile(at('memory.ram'), 'on'), more: [], state: null });
    await pause(SETTLE_MS);
    await machine.agent.quiesce({ signal: soon() });
    await machine.link.close();
    const port = createConnection(at('mux.sock'));
    await synchronize(port, soon());
    port.destroy();
    await machine.qmp.execute('stop');
    await machine.qmp.execute('migrate-set-capabilities', { capabilities: CAPABILITIES });
    const migrated = migration(machine.qmp);
    await machine.qmp.execute('migrate', { uri: `exec:cat > ${at('state')}` });
    await migrated;
    await machine.end();
    await chmod(at('overlay.qcow2'), 0o444);
    await this.#overlay(at('overlay.qcow2'), 'qcow2', at('empty.qcow2'));
    this.#template = at;
  }

  /** A clone of the template, as soon as its agent has answered. */
  async clone() {
    const template = this.#template;
    const at = await this.#place();
    await copyFile(template('empty.qcow2'), at('overlay.qcow2'));
    const state = await open(template('state'), 'r');
    try {
      return await this.#run(at, { memory: memoryFile(template('memory.ram'), 'off'), more: [], state });
    } finally {
      await state.close();
    }
  }

  async #place() {
    const directory = path.join(this.directory, String(++this.#count));
    await mkdir(directory);
    return (name) => path.join(directory, name);
  }

  async #overlay(base, format, file) {
    const child = spawn('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', format, '-b', base, file], {
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`qemu-img ended with ${code}`);
  }

  async #run(at, { memory, more, state }) {
    const { kernel, initramfs, accelerator } = this.files;
    const processor =
      accelerator === 'kvm'
        ? ['-accel', 'kvm', '-cpu', 'host']
        : ['-accel', 'tcg,thread=multi,tb-size=64', '-cpu', 'max'];
    const args = [
      ...processor,
      ...['-smp', '1', '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-S', ...memory],
      ...(memory[0] === '-m' ? ['-machine', 'q35'] : []),
      ...['-chardev', 'socket,id=qmp,fd=3', '-mon', 'chardev=qmp,mode=control', '-serial', `file:${at('serial.log')}`],
      ...['-device', 'virtio-serial-pci', '-chardev', `socket,id=mux,path=${at('mux.sock')},server=on,wait=off`],
      ...['-device', 'virtserialport,chardev=mux,name=inquest.mux', ...more],
      ...['-device', 'vmgenid,guid=auto', '-device', 'virtio-rng-pci'],
      ...['-blockdev', `driver=qcow2,node-name=disk,file.driver=file,file.filename=${at('overlay.qcow2')}`],
      ...['-device', 'virtio-blk-pci,drive=disk', '-kernel', kernel, '-initrd', initramfs],
      ...['-append', 'console=ttyS0 quiet inquest.root=/dev/vda', ...(state === null ? [] : ['-incoming', 'defer'])],
    ];
    const child = spawn('qemu-system-x86_64', args, {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', ...(state === null ? [] : [state.fd])],
    });
    const gone = once(child, 'exit');
    const end = async () => {
      child.kill('SIGKILL');
      await gone;
      await rm(at('mux.sock'), { force: true });
    };
    try {
      const qmp = await QmpClient.negotiate(child.stdio[3]);
      if (state !== null) await restore(qmp);
      const link = openSerialMuxLink({ socketPath: at('mux.sock'), signal: soon() });
      await qmp.execute('cont');
      const agent = new GuestAgentClient(await link);
      await agent.ping({ signal: soon(), deadlineMs: ANSWER_MS });
      return { agent, qmp, link: await link, rawSocket: at('raw.sock'), pid: child.pid, end };
    } catch (e) {
      await end();
      throw e;
    }
  }
}

const soon = () => AbortSignal.timeout(ANSWER_MS);

const memoryFile = (file, share) => [
  ...['-object', `memory-backend-file,id=ram,size=${MEMORY_MIB}M,mem-path=${file},share=${share}`],
  ...['-machine', 'q35,memory-backend=ram', '-m', String(MEMORY_MIB)],
];

async function restore(qmp) {
  await qmp.execute('migrate-set-capabilities', { capabilities: CAPABILITIES });
  const loaded = migration(qmp);
  await qmp.execute('migrate-incoming', { uri: 'fd:4' });
  await loaded;
}

const migration = (qmp) =>
  new Promise((resolve, reject) => {
    qmp.onEvent(({ name, data }) => {
      if (name !== 'MIGRATION') return;
      if (data.status === 'completed') resolve();
      if (data.status === 'failed') reject(new Error('the migration failed'));
    });
    void qmp.closed.then(() => reject(new Error('QEMU ended during the migration')));
  });
