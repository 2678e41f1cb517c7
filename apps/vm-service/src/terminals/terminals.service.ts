import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { dto, StreamTicket } from '@inquest/contracts-base';
import {
  TerminalTicket,
  vmError,
  type AttachTerminalRequest,
  type LocateTerminalRequest,
  type OpenTerminalRequest,
  type TerminalList,
  type TerminalRequest,
  type TerminalView,
} from '@inquest/contracts-vm';
import type { GuestExec } from '@inquest/guest-link';
import { UrlSigner } from '@inquest/http';
import { hasCode, toDomainError } from '@inquest/kernel';
import { execOptions } from '../guest/guest-verbs.service';
import { LiveMachines } from '../guest/live-machines';
import { OneTimeTickets } from '../guest/one-time-tickets';
import { OwnAddress } from '../guest/own-address';
import type { LiveMachine } from '../machines/live-machine';
import { Terminal, type TerminalHost } from './terminal';
import { TERMINAL_LIMITS, type TerminalLimits } from './terminal-limits';

/** The login shell of whatever image: bash where there is one. */
const LOGIN_SHELL = 'if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi';
/** Until the command runs; the caller of `openTerminal` waits a little longer. */
const START_TIMEOUT_MS = 25_000;
const RESIZE_TIMEOUT_MS = 10_000;
/** The id of no command: agents number theirs. */
const NO_EXEC = 'none';
/** Path of a terminal's WebSocket, before its ticket. */
export const TERMINAL_PATH = '/v1/terminals/';

/** The terminals of this node's machines: opened here, looked at through `TerminalSockets`. */
@Injectable()
export class Terminals implements OnModuleInit, BeforeApplicationShutdown {
  private readonly log = new Logger(Terminals.name);
  private readonly stopping = new AbortController();
  private readonly tickets = new OneTimeTickets<AttachTerminalRequest>();
  /** By id; oldest first. */
  private readonly terminals = new Map<string, { readonly machineId: string; readonly terminal: Terminal }>();
  /** How many are being opened, by machine. */
  private readonly opening = new Map<string, number>();

  constructor(
    private readonly machines: LiveMachines,
    private readonly address: OwnAddress,
    private readonly signer: UrlSigner,
    @Inject(TERMINAL_LIMITS) private readonly limits: TerminalLimits,
  ) {}

  onModuleInit(): void {
    const timer = setInterval(() => this.sweep(), this.limits.sweepMs).unref();
    this.stopping.signal.addEventListener('abort', () => clearInterval(timer));
  }

  beforeApplicationShutdown(): void {
    this.stopping.abort(new Error('vm-service is stopping'));
  }

  /**
   * Starts a command with a terminal. Throws `MACHINE_STATE_WRONG`, `MACHINE_INCARNATION_STALE`, `MACHINE_LOST`,
   * `TERMINAL_LIMIT_REACHED`, `OP_UNKNOWN` for a guest agent that is too old, and `EXEC_*` when the command could not be
   * run; nothing runs then.
   */
  async open(request: OpenTerminalRequest): Promise<TerminalView> {
    const life = await this.machines.require(request);
    const { machineId } = life;
    const pending = this.opening.get(machineId) ?? 0;
    const { perMachine } = this.limits;
    if (this.of(machineId).filter(({ isRunning }) => isRunning).length + pending >= perMachine) {
      throw vmError('TERMINAL_LIMIT_REACHED', `machine ${machineId} has ${perMachine} terminals already`, {
        limit: perMachine,
      });
    }
    this.opening.set(machineId, pending + 1);
    try {
      const exec = await this.machines.run(life, () => this.start(life, request));
      const terminal = new Terminal(this.hostOf(life), request, exec, this.limits);
      this.terminals.set(terminal.terminalId, { machineId, terminal });
      this.log.log(`terminal ${terminal.terminalId} opened on machine ${machineId}`);
      return terminal.view;
    } finally {
      const left = (this.opening.get(machineId) ?? 1) - 1;
      if (left === 0) this.opening.delete(machineId);
      else this.opening.set(machineId, left);
    }
  }

  list(machineId: string): TerminalList {
    return { items: this.of(machineId).map(({ view }) => view) };
  }

  /** Throws `TERMINAL_UNKNOWN`. */
  show(request: TerminalRequest): TerminalView {
    return this.require(request).view;
  }

  /** Ends the command and everything of its session. One that has ended stays as it ended. Throws `TERMINAL_UNKNOWN`. */
  async close(request: TerminalRequest): Promise<TerminalView> {
    const terminal = this.require(request);
    if (terminal.isRunning) await terminal.close('closed', 'it was closed');
    return terminal.view;
  }

  /** A ticket for one viewer. Throws `TERMINAL_UNKNOWN`. */
  attach(request: AttachTerminalRequest): TerminalTicket {
    this.require(request);
    const { id, expiresAtMs } = this.tickets.issue(request);
    return dto(TerminalTicket, { ticket: id, machineId: request.machineId, expiresAtMs });
  }

  /** Where a ticket is to be used. Throws `STREAM_TICKET_INVALID`. */
  locate({ ticket }: LocateTerminalRequest): StreamTicket {
    const found = this.tickets.find(ticket);
    if (found === null) throw ticketInvalid();
    const path = this.signer.signPath('GET', `${TERMINAL_PATH}${ticket}`, found.lifetimeMs);
    return dto(StreamTicket, {
      url: `${this.address.baseUrl}${path}`,
      method: 'GET',
      expiresAtMs: found.expiresAtMs,
    });
  }

  /** What a ticket lets in to; it is used up by that. Throws `STREAM_TICKET_INVALID` and `TERMINAL_UNKNOWN`. */
  redeem(ticket: string): { readonly terminal: Terminal; readonly request: AttachTerminalRequest } {
    const request = this.tickets.take(ticket);
    if (request === null) throw ticketInvalid();
    return { terminal: this.require(request), request };
  }

  private async start(life: LiveMachine, request: OpenTerminalRequest): Promise<GuestExec> {
    await this.requireTerminals(life);
    const { command, cols, rows, term, cwd, env, user } = request;
    return life.agent.exec(
      { shell: command ?? LOGIN_SHELL },
      {
        ...execOptions({ cwd, env, user, timeoutMs: null }),
        pty: { cols, rows, term },
        signal: this.stopping.signal,
        deadlineMs: START_TIMEOUT_MS,
      },
    );
  }

  /**
   * An agent of an older image would ignore that a terminal is wanted, and run the command without one. Throws its
   * `OP_UNKNOWN`, which says what to do.
   */
  private async requireTerminals({ agent }: LiveMachine): Promise<void> {
    try {
      await agent.resize({ execId: NO_EXEC, cols: 80, rows: 24 }, { signal: this.stopping.signal });
    } catch (e) {
      if (!hasCode(e, 'EXEC_ID_UNKNOWN')) throw e;
    }
  }

  private hostOf(life: LiveMachine): TerminalHost {
    return {
      machineId: life.machineId,
      incarnation: life.incarnation,
      resize: (execId, size) =>
        life.agent.resize({ execId, ...size }, { signal: this.stopping.signal, deadlineMs: RESIZE_TIMEOUT_MS }),
      explain: (e) => this.machines.explain(life, e).catch(() => toDomainError(e)),
    };
  }

  private of(machineId: string): Terminal[] {
    return [...this.terminals.values()]
      .filter((entry) => entry.machineId === machineId)
      .map(({ terminal }) => terminal);
  }

  private require({ machineId, terminalId }: TerminalRequest): Terminal {
    const entry = this.terminals.get(terminalId);
    if (entry?.machineId === machineId) return entry.terminal;
    throw vmError('TERMINAL_UNKNOWN', `machine ${machineId} has no terminal ${terminalId}`, { terminal: terminalId });
  }

  /** Closes what nobody uses, and forgets what ended long ago. */
  private sweep(): void {
    const nowMs = Date.now();
    for (const [terminalId, { terminal }] of this.terminals) {
      const idleMs = terminal.idleMs(nowMs);
      if (!terminal.isRunning && idleMs >= this.limits.keepEndedMs) this.terminals.delete(terminalId);
      if (terminal.isRunning && idleMs >= this.limits.idleMs) {
        void terminal.close('idle', `nobody looked at it, and it showed nothing, for ${this.limits.idleMs} ms`);
      }
    }
  }
}

const ticketInvalid = () => vmError('STREAM_TICKET_INVALID', 'the terminal ticket is unknown, used up or expired');
