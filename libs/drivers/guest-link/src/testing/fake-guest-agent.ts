import { type Duplex } from 'node:stream';
import { FRAME_PORT, PROTOCOL_VERSION, type Beat, type JsonObject } from '@inquest/frame-protocol';
import { FrameChannel } from '../client/frame-channel';
import { type GuestLink, type GuestListener } from '../guest-link';
import { FakeGuestExecs } from './fake-guest-exec';
import { FakeGuestFiles } from './fake-guest-files';
import { createMemoryLinkPair } from './memory-link';

/** A guest agent in this process: speaks the frame protocol, runs scripted commands, keeps files in memory. */
export class FakeGuestAgent {
  readonly files = new FakeGuestFiles();
  readonly execs = new FakeGuestExecs();
  /** Every request so far, in order of arrival. */
  readonly requests: JsonObject[] = [];
  /** What a ping says of the proxy: both ends of it are up. An offer sets it. */
  isEgressUp = false;
  /** Tags of the shares that were mounted, by path. */
  readonly mounts = new Map<string, string>();
  /** Why nothing can be mounted; null when it can. */
  mountFailure: string | null = null;
  /** Addresses of its network that do not answer. */
  readonly unreachable = new Set<string>();
  private hostname = 'fake';
  private looks = 0;
  private readonly watchers = new Set<(beat: Beat) => void>();
  private beat: Beat = { uptimeMs: 1000, rootReadonly: false, initStopping: false, execs: 0 };

  /** Serves the frame port of `link`, which is the guest's side, until the listener is closed. */
  serve(link: GuestLink): Promise<GuestListener> {
    return link.listen(FRAME_PORT, (stream) => void this.answer(stream));
  }

  /** Changes what `watch` shows; every watcher gets a beat at once. */
  setBeat(change: Partial<Beat>): void {
    this.beat = { ...this.beat, ...change };
    for (const send of this.watchers) send(this.beat);
  }

  private async answer(stream: Duplex): Promise<void> {
    const channel = new FrameChannel(stream, 'fake guest agent');
    try {
      const request = await channel.nextControl();
      this.requests.push(request);
      await this.dispatch(channel, request);
      stream.end();
    } catch {
      // The host went away in the middle of its request, as it may.
      channel.close();
    }
  }

  private dispatch(channel: FrameChannel, request: JsonObject): Promise<void> {
    const path = String(request['path']);
    switch (request['op']) {
      case 'ping':
        return this.pong(channel, request);
      case 'rebirth':
        this.hostname = String(request['hostname']);
        return this.pong(channel, request);
      case 'exec':
        return this.execs.exec(channel, request);
      case 'signal':
        return this.execs.signal(channel, request);
      case 'resize':
        return this.execs.resize(channel, request);
      case 'put':
        return this.files.put(channel, request);
      case 'get':
        return this.files.get(channel, path);
      case 'tail':
        return this.files.tail(channel, path, Number(request['fromOffset'] ?? 0));
      case 'stat':
        return this.files.stat(channel, path);
      case 'list':
        return this.files.list(channel, path);
      case 'remove':
        return this.files.remove(channel, path);
      case 'metrics':
        return this.metrics(channel);
      case 'watch':
        return this.watch(channel);
      case 'offer':
        this.isEgressUp = request['egress'] === true;
        return channel.sendControl({ type: 'ok' });
      case 'mount':
        return this.mount(channel, path, String(request['tag']));
      case 'reach':
        return this.reach(channel, String(request['address']));
      case 'clock':
      case 'shutdown':
      case 'quiesce':
        return channel.sendControl({ type: 'ok' });
      default:
        return channel.sendControl({
          type: 'error',
          code: 'OP_UNKNOWN',
          message: `unknown op ${String(request['op'])}`,
        });
    }
  }

  private mount(channel: FrameChannel, path: string, tag: string): Promise<void> {
    if (this.mountFailure !== null)
      return channel.sendControl({ type: 'error', code: 'OP_FAILED', message: this.mountFailure });
    this.mounts.set(path, tag);
    return channel.sendControl({ type: 'ok' });
  }

  private reach(channel: FrameChannel, address: string): Promise<void> {
    if (!this.unreachable.has(address)) return channel.sendControl({ type: 'ok' });
    return channel.sendControl({ type: 'error', code: 'PEER_UNREACHABLE', message: `${address} does not answer` });
  }

  /** Of a guest that has nothing to do: time passes between two looks, and none of it is spent. */
  private metrics(channel: FrameChannel): Promise<void> {
    const cpuTotalTicks = METRICS.cpuTotalTicks + TICKS_BETWEEN_LOOKS * this.looks++;
    return channel.sendControl({ type: 'metrics', ...METRICS, cpuTotalTicks, execs: this.execs.runningCount });
  }

  private pong(channel: FrameChannel, request: JsonObject): Promise<void> {
    const state = { hostname: this.hostname, egress: this.isEgressUp };
    return channel.sendControl({ type: 'pong', nonce: request['nonce'], ...PONG, ...state });
  }

  /** Until the host closes the stream. */
  private async watch(channel: FrameChannel): Promise<void> {
    const send = (beat: Beat): void => void channel.sendControl({ type: 'beat', ...beat }).catch(() => channel.close());
    this.watchers.add(send);
    send(this.beat);
    await channel.next().finally(() => this.watchers.delete(send));
  }
}

/** A fake guest with the host's link to it. */
export interface FakeGuest {
  readonly link: GuestLink;
  readonly agent: FakeGuestAgent;
  /** The guest dies at once. */
  sever(): void;
}

/** A fake guest agent behind a link in memory, ready to answer. Close `link` when done. */
export const createFakeGuest = (): Promise<FakeGuest> => connectFakeGuest(new FakeGuestAgent());

/** The same of an agent that is there already, whose host is a new one. */
export async function connectFakeGuest(agent: FakeGuestAgent): Promise<FakeGuest> {
  const { host, guest, sever } = createMemoryLinkPair();
  await agent.serve(guest);
  return { link: host, agent, sever };
}

const PONG = {
  protocol: PROTOCOL_VERSION,
  agentVersion: 'fake',
  bootId: '00000000-0000-4000-8000-000000000000',
  uptimeMs: 1000,
  kernel: 'fake',
  egress: false,
};

const TICKS_BETWEEN_LOOKS = 50;

const METRICS = {
  load1: 0,
  memoryTotalKib: 262_144,
  memoryAvailableKib: 200_000,
  diskTotalKib: 65_536,
  diskFreeKib: 60_000,
  processes: 10,
  cpuBusyTicks: 100,
  cpuTotalTicks: 1000,
};
