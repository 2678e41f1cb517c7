import { Empty, StreamTicket } from '@inquest/contracts-shared';
import { event, operation } from '@inquest/kernel';
import { EvidenceRequest, EvidenceView } from './evidence.dto';
import {
  ExecRequest,
  ExecView,
  ListFilesRequest,
  ListFilesView,
  OpenStreamRequest,
  ReadFileRequest,
  ReadFileView,
  ScreenshotView,
  WriteFileRequest,
  WriteFileView,
} from './guest-verb.dto';
import {
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
  ShutdownMachineRequest,
  StartMachineRequest,
  VerdictReport,
  WaitMachineRequest,
} from './machine.dto';
import { MakeTemplateRequest, RemovedTemplatesView, RemoveTemplatesRequest, TemplateView } from './template.dto';

const SUBJECT = 'inquest.v1.cmd.vm';

/**
 * The calls that vm-service answers. `perNode` calls go to the node in the machine's id. `nodes` and `list` are
 * gathered: every node answers for itself.
 */
export const vmOps = {
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
  /** Makes the template of a frozen version on one node, unless it has it; starts are clones of it from then on. */
  makeTemplate: operation({
    subject: `${SUBJECT}.make-template`,
    perNode: true,
    request: MakeTemplateRequest,
    response: TemplateView,
    timeoutMs: 300_000,
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
  screenshot: operation({
    subject: `${SUBJECT}.screenshot`,
    perNode: true,
    request: IncarnationRequest,
    response: ScreenshotView,
    timeoutMs: 10_000,
  }),
} as const;

/** `inquest.v1.evt.vm.machine-changed.<machineId>` */
export const vmEvents = {
  machineChanged: event({ subject: 'inquest.v1.evt.vm.machine-changed', body: MachineChanged }),
} as const;
