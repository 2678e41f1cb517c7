import { Empty, StreamTicket } from '@inquest/contracts-base';
import { event, operation } from '@inquest/kernel';
import { EvidenceRequest, EvidenceView } from './evidence.dto';
import {
  CancelExecRequest,
  CancelledExecView,
  ExecRequest,
  ExecView,
  GuestMetricsView,
  ListFilesRequest,
  ListFilesView,
  OpenStreamRequest,
  ReadFileRequest,
  ReadFileView,
  WriteFileRequest,
  WriteFileView,
} from './guest-verb.dto';
import { StartGroupRequest } from './group.dto';
import {
  CloneMachineRequest,
  DestroyedView,
  DestroyMachineRequest,
  IncarnationRequest,
  ListMachinesRequest,
  MachineChanged,
  MachineList,
  MachineRequest,
  MachineView,
  NodeView,
  ResetMachineRequest,
  ShareRequest,
  ShutdownMachineRequest,
  StartMachineRequest,
  UnshareRequest,
  VerdictReport,
  WaitMachineRequest,
} from './machine.dto';
import { screenOps } from './screen.contract';
import { ExecSerialRequest, ExecSerialView } from './serial.dto';
import { terminalOps } from './terminal.contract';
import {
  MakeTemplateRequest,
  RemovedTemplatesView,
  RemoveTemplatesRequest,
  TemplateStateRequest,
  TemplateStateView,
  TemplateView,
} from './template.dto';

const SUBJECT = 'inquest.v1.cmd.vm';

/**
 * The calls that vm-service answers. `perNode` calls go to the node in the machine's id. `nodes` and `list` are
 * gathered: every node answers for itself.
 */
export const vmOps = {
  ...screenOps,
  ...terminalOps,
  nodes: operation({ subject: `${SUBJECT}.nodes`, request: Empty, response: NodeView, timeoutMs: 2_000 }),
  list: operation({
    subject: `${SUBJECT}.list`,
    request: ListMachinesRequest,
    response: MachineList,
    timeoutMs: 2_000,
  }),
  /** Gathered: each node answers with its live machine of that name, else with the newest that had it, else with none. */
  find: operation({ subject: `${SUBJECT}.find`, request: MachineRequest, response: MachineList, timeoutMs: 2_000 }),
  start: operation({
    subject: `${SUBJECT}.start`,
    perNode: true,
    request: StartMachineRequest,
    response: MachineView,
    timeoutMs: 20_000,
  }),
  /** Answers when all machines were accepted. Each is ready once its neighbours answered it; all are, or none is left. */
  startGroup: operation({
    subject: `${SUBJECT}.start-group`,
    perNode: true,
    request: StartGroupRequest,
    response: MachineList,
    timeoutMs: 60_000,
  }),
  /** Makes the template of a frozen version on one node, unless it has it; starts are clones of it from then on. */
  makeTemplate: operation({
    subject: `${SUBJECT}.make-template`,
    perNode: true,
    request: MakeTemplateRequest,
    response: TemplateView,
    timeoutMs: 300_000,
  }),
  /** Gathered: each node says how it stands with a template. Looks at files, and makes nothing. */
  templateState: operation({
    subject: `${SUBJECT}.template-state`,
    request: TemplateStateRequest,
    response: TemplateStateView,
    timeoutMs: 2_000,
  }),
  /** Gathered: every node removes what it has of a version that nothing starts on any more. */
  removeTemplates: operation({
    subject: `${SUBJECT}.remove-templates`,
    request: RemoveTemplatesRequest,
    response: RemovedTemplatesView,
    timeoutMs: 10_000,
  }),
  show: operation({
    subject: `${SUBJECT}.show`,
    perNode: true,
    request: MachineRequest,
    response: MachineView,
    timeoutMs: 5_000,
  }),
  wait: operation({
    subject: `${SUBJECT}.wait`,
    perNode: true,
    request: WaitMachineRequest,
    response: MachineView,
    timeoutMs: 60_000,
  }),
  reset: operation({
    subject: `${SUBJECT}.reset`,
    perNode: true,
    request: ResetMachineRequest,
    response: MachineView,
    timeoutMs: 30_000,
  }),
  /** Answers when the copy was accepted; it is ready within seconds. Its resets start from the image. */
  cloneMachine: operation({
    subject: `${SUBJECT}.clone-machine`,
    perNode: true,
    request: CloneMachineRequest,
    response: MachineView,
    timeoutMs: 20_000,
  }),
  share: operation({
    subject: `${SUBJECT}.share`,
    perNode: true,
    request: ShareRequest,
    response: MachineView,
    timeoutMs: 20_000,
  }),
  unshare: operation({
    subject: `${SUBJECT}.unshare`,
    perNode: true,
    request: UnshareRequest,
    response: MachineView,
    timeoutMs: 10_000,
  }),
  shutdown: operation({
    subject: `${SUBJECT}.shutdown`,
    perNode: true,
    request: ShutdownMachineRequest,
    response: MachineView,
    timeoutMs: 70_000,
  }),
  destroy: operation({
    subject: `${SUBJECT}.destroy`,
    perNode: true,
    request: DestroyMachineRequest,
    response: DestroyedView,
    timeoutMs: 30_000,
  }),
  verdict: operation({
    subject: `${SUBJECT}.verdict`,
    perNode: true,
    request: IncarnationRequest,
    response: VerdictReport,
    timeoutMs: 10_000,
  }),
  evidence: operation({
    subject: `${SUBJECT}.evidence`,
    perNode: true,
    request: EvidenceRequest,
    response: EvidenceView,
    timeoutMs: 10_000,
  }),
  exec: operation({
    subject: `${SUBJECT}.exec`,
    perNode: true,
    request: ExecRequest,
    response: ExecView,
    timeoutMs: 3_660_000,
  }),
  /** Needs no guest agent. One at a time and machine; fails with `VM_SERIAL_*` where `exec` would with `EXEC_*`. */
  execSerial: operation({
    subject: `${SUBJECT}.exec-serial`,
    perNode: true,
    request: ExecSerialRequest,
    response: ExecSerialView,
    timeoutMs: 3_660_000,
  }),
  cancelExec: operation({
    subject: `${SUBJECT}.cancel-exec`,
    perNode: true,
    request: CancelExecRequest,
    response: CancelledExecView,
    timeoutMs: 10_000,
  }),
  readFile: operation({
    subject: `${SUBJECT}.read-file`,
    perNode: true,
    request: ReadFileRequest,
    response: ReadFileView,
    timeoutMs: 30_000,
  }),
  writeFile: operation({
    subject: `${SUBJECT}.write-file`,
    perNode: true,
    request: WriteFileRequest,
    response: WriteFileView,
    timeoutMs: 30_000,
  }),
  listFiles: operation({
    subject: `${SUBJECT}.list-files`,
    perNode: true,
    request: ListFilesRequest,
    response: ListFilesView,
    timeoutMs: 30_000,
  }),
  openStream: operation({
    subject: `${SUBJECT}.open-stream`,
    perNode: true,
    request: OpenStreamRequest,
    response: StreamTicket,
    timeoutMs: 5_000,
  }),
  /** How busy the guest says that it is. */
  guestMetrics: operation({
    subject: `${SUBJECT}.guest-metrics`,
    perNode: true,
    request: IncarnationRequest,
    response: GuestMetricsView,
    timeoutMs: 10_000,
  }),
} as const;

/** `inquest.v1.evt.vm.machine-changed.<machineId>` */
export const vmEvents = {
  machineChanged: event({ subject: 'inquest.v1.evt.vm.machine-changed', body: MachineChanged }),
} as const;
