import { StreamTicket } from '@inquest/contracts-base';
import { operation } from '@inquest/kernel';
import { MachineRequest } from './machine.dto';
import {
  AttachTerminalRequest,
  LocateTerminalRequest,
  OpenTerminalRequest,
  TerminalList,
  TerminalRequest,
  TerminalTicket,
  TerminalView,
} from './terminal.dto';

const SUBJECT = 'inquest.v1.cmd.vm';

/** The calls about terminals, which are part of `vmOps`. */
export const terminalOps = {
  openTerminal: operation({
    subject: `${SUBJECT}.open-terminal`,
    perNode: true,
    request: OpenTerminalRequest,
    response: TerminalView,
    timeoutMs: 30_000,
  }),
  listTerminals: operation({
    subject: `${SUBJECT}.list-terminals`,
    perNode: true,
    request: MachineRequest,
    response: TerminalList,
    timeoutMs: 5_000,
  }),
  showTerminal: operation({
    subject: `${SUBJECT}.show-terminal`,
    perNode: true,
    request: TerminalRequest,
    response: TerminalView,
    timeoutMs: 5_000,
  }),
  /** Ends the command and everything of its session. */
  closeTerminal: operation({
    subject: `${SUBJECT}.close-terminal`,
    perNode: true,
    request: TerminalRequest,
    response: TerminalView,
    timeoutMs: 15_000,
  }),
  attachTerminal: operation({
    subject: `${SUBJECT}.attach-terminal`,
    perNode: true,
    request: AttachTerminalRequest,
    response: TerminalTicket,
    timeoutMs: 5_000,
  }),
  /** Where the WebSocket of a ticket is, for who passes it on. */
  locateTerminal: operation({
    subject: `${SUBJECT}.locate-terminal`,
    perNode: true,
    request: LocateTerminalRequest,
    response: StreamTicket,
    timeoutMs: 5_000,
  }),
} as const;
