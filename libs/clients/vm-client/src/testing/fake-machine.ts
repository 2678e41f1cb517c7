import { dto } from '@inquest/contracts-base';
import { MachineView, VerdictView, type StartMachineRequest } from '@inquest/contracts-vm';
import { GuestFiles } from './guest-files';

const VERDICT = {
  confidence: 'certain',
  ended: true,
  boots: 1,
  deciding: [{ file: 'events.jsonl', offset: 0, length: 8, quote: 'SHUTDOWN' }],
  contributing: [],
  warnings: [],
} as const;

/** One machine of `FakeVmService`. */
export class FakeMachine {
  readonly files = new GuestFiles();
  readonly requestId: string | null;
  /** Aborts when the machine ends: what waits for its guest fails then. */
  readonly ended = new AbortController();
  view: MachineView;

  constructor(machineId: string, node: string, request: StartMachineRequest, bornAtMs: number) {
    this.requestId = request.requestId;
    this.view = dto(MachineView, {
      machineId,
      node,
      name: request.name,
      image: request.image,
      version: request.version ?? 1,
      state: 'starting',
      reason: 'booting',
      message: 'the machine is booting',
      incarnation: 1,
      cpus: request.cpus ?? 1,
      memoryMib: request.memoryMib ?? 256,
      accelerator: 'tcg',
      hasScreen: request.screen,
      rtcBaseMs: request.rtcBaseMs,
      shares: [],
      peer: null,
      owner: request.owner,
      createdAtMs: bornAtMs,
      readyAtMs: null,
      endedAtMs: null,
      lastSeenAtMs: null,
      verdict: null,
      origin: 'boot',
      egress: { isUp: false, allowedHosts: request.allowedHosts, hasLocalModel: request.localModel },
      isRemoved: false,
    });
  }

  get isLive(): boolean {
    return this.view.state !== 'ended';
  }

  becomeReady(atMs: number): void {
    if (this.view.state !== 'starting') return;
    this.view = { ...this.view, state: 'ready', reason: 'ready', message: 'ready', readyAtMs: atMs };
  }

  /** Ends it with a verdict of that class. A machine that has ended stays as it ended. */
  end(verdictClass: string, atMs: number): void {
    if (!this.isLive) return;
    const message = `the machine ended: ${verdictClass}`;
    const blame = verdictClass === 'clean_poweroff' ? 'none' : 'host';
    const verdict = dto(VerdictView, {
      ...VERDICT,
      deciding: [...VERDICT.deciding],
      contributing: [],
      warnings: [],
      class: verdictClass,
      account: message,
      blame,
    });
    this.view = { ...this.view, state: 'ended', reason: verdictClass, message, endedAtMs: atMs, verdict };
    this.ended.abort();
  }

  remove(): void {
    this.view = { ...this.view, isRemoved: true };
  }
}
