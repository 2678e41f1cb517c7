import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const REPOSITORY = resolve(__dirname, '../../../../..');
/** The first run downloads the distribution's kernel package. */
const BUILD_DEADLINE_MS = 300_000;
const START_MS = 60_000;
const RETRY_MS = 20;
const MEMORY = '160M';
/** See docs/guest-protocol.md. */
const MUX_PORT = 'inquest.mux';

/** What a link machine boots. */
export interface LinkPeerFiles {
  readonly kernelPath: string;
  readonly initramfsPath: string;
}

/** Builds the guest of link machines into `directory`; only the kernel is kept between runs. */
export async function buildLinkPeer(directory: string): Promise<LinkPeerFiles> {
  const script = join(REPOSITORY, 'tools/vsock/build-link-peer.mjs');
  const cache = join(REPOSITORY, '.inquest/boot-cache');
  const out = join(directory, 'link-peer.cpio');
  const command = [script, '--cache', cache, '--out', out, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: BUILD_DEADLINE_MS });
  return JSON.parse(stdout) as LinkPeerFiles;
}

/**
 * A real guest that runs `link-peer`, under QEMU's software emulation: with a virtio-serial port, and with an AF_VSOCK
 * device where there is a program for it.
 */
export class LinkMachine {
  private readonly children: ChildProcess[] = [];
  private isSevered = false;

  private constructor(private readonly directory: string) {}

  /** Host end of the virtio-serial port. */
  get muxSocket(): string {
    return join(this.directory, 'mux.sock');
  }

  /** Host end of the vsock. */
  get vsockSocket(): string {
    return join(this.directory, 'v.sock');
  }

  /** False as soon as it was killed. */
  get isRunning(): boolean {
    return !this.isSevered;
  }

  /** Starts it; its sockets in `directory` are served when this resolves, which is long before its guest is up. */
  static async start(directory: string, files: LinkPeerFiles, vsockProgram: string | null): Promise<LinkMachine> {
    const machine = new LinkMachine(directory);
    try {
      if (vsockProgram !== null) await machine.startVsock(vsockProgram);
      machine.run('qemu-system-x86_64', machine.qemuArguments(files, vsockProgram !== null));
      await isServed(machine.muxSocket);
      return machine;
    } catch (e) {
      await machine.end();
      throw e;
    }
  }

  /** Kills it. Does not wait. */
  sever(): void {
    this.isSevered = true;
    for (const child of this.children) child.kill('SIGKILL');
  }

  /** Kills it, waits until it is gone, and removes its sockets. Idempotent. */
  async end(): Promise<void> {
    this.sever();
    await Promise.all(
      this.children.map(async (child) => {
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }),
    );
    const sockets = [this.muxSocket, this.vsockSocket, this.backendSocket];
    await Promise.all(sockets.map((socket) => rm(socket, { force: true })));
  }

  private get backendSocket(): string {
    return join(this.directory, 'vhost.sock');
  }

  private async startVsock(program: string): Promise<void> {
    this.run(program, ['--vm', `guest-cid=3,socket=${this.backendSocket},uds-path=${this.vsockSocket}`]);
    // One connection is all that it takes there, so the other socket tells.
    await isServed(this.vsockSocket);
  }

  private run(program: string, args: readonly string[]): void {
    // Killed by the kernel when this process dies.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, RUST_LOG: 'off' },
    });
    this.children.push(child);
  }

  private qemuArguments({ kernelPath, initramfsPath }: LinkPeerFiles, hasVsock: boolean): string[] {
    const vsock = [`socket,id=vsock,path=${this.backendSocket}`, 'vhost-user-vsock-pci,chardev=vsock'] as const;
    return [
      ...['-accel', 'tcg,thread=multi,tb-size=64', '-cpu', 'max', '-nodefaults', '-no-user-config', '-display', 'none'],
      // The program behind a vhost-user device shares the guest's memory.
      ...['-object', `memory-backend-memfd,id=ram,size=${MEMORY},share=on`],
      ...['-machine', 'q35,memory-backend=ram', '-m', MEMORY, '-no-reboot'],
      ...['-chardev', `socket,id=mux,path=${this.muxSocket},server=on,wait=off`, '-device', 'virtio-serial-pci'],
      ...['-device', `virtserialport,id=${MUX_PORT},chardev=mux,name=${MUX_PORT}`],
      ...(hasVsock ? ['-chardev', vsock[0], '-device', vsock[1]] : []),
      ...['-kernel', kernelPath, '-initrd', initramfsPath, '-append', 'quiet panic=1'],
    ];
  }
}

/** Waits until somebody serves the socket: its file is there a moment before. */
async function isServed(file: string): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; await delay(RETRY_MS)) {
    const socket = connect(file);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
  }
  throw new Error(`nobody serves ${file} after ${START_MS} ms`);
}
