import type { StreamTicket } from '@inquest/contracts-base';
import {
  vmOps,
  type AttachTerminalRequest,
  type ClickRequest,
  type ExecRequest,
  type ExecSerialRequest,
  type ExecSerialView,
  type ExecView,
  type GuestMetricsView,
  type IncarnationRequest,
  type InputView,
  type ListFilesRequest,
  type ListFilesView,
  type LocateTerminalRequest,
  type OpenStreamRequest,
  type OpenTerminalRequest,
  type PressKeysRequest,
  type ReadFileRequest,
  type ReadFileView,
  type ScreenshotView,
  type ScrollRequest,
  type TerminalList,
  type TerminalRequest,
  type TerminalTicket,
  type TerminalView,
  type TypeTextRequest,
  type WriteFileRequest,
  type WriteFileView,
} from '@inquest/contracts-vm';
import { newId } from '@inquest/kernel';
import { NodeCalls, type CallOptions } from './node-calls';

/** What is done in the guest of a machine, and on its screen and terminals. */
export abstract class GuestCalls extends NodeCalls {
  /** A caller that stops waiting has the command killed, with everything it started. */
  async exec(request: ExecRequest, options: CallOptions = {}): Promise<ExecView> {
    const { signal } = options;
    if (signal === undefined) return this.onOwnNode(vmOps.exec, request, options);
    const { machineId } = request;
    const execId = request.execId ?? newId<string>('exec');
    const cancel = (): void => void this.onOwnNode(vmOps.cancelExec, { machineId, execId }).catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await this.onOwnNode(vmOps.exec, { ...request, execId }, options);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** What a caller that stops waiting leaves behind goes on until its time limit. */
  execSerial(request: ExecSerialRequest, options?: CallOptions): Promise<ExecSerialView> {
    return this.onOwnNode(vmOps.execSerial, request, options);
  }

  readFile(request: ReadFileRequest, options?: CallOptions): Promise<ReadFileView> {
    return this.onOwnNode(vmOps.readFile, request, options);
  }

  writeFile(request: WriteFileRequest, options?: CallOptions): Promise<WriteFileView> {
    return this.onOwnNode(vmOps.writeFile, request, options);
  }

  listFiles(request: ListFilesRequest, options?: CallOptions): Promise<ListFilesView> {
    return this.onOwnNode(vmOps.listFiles, request, options);
  }

  openStream(request: OpenStreamRequest, options?: CallOptions): Promise<StreamTicket> {
    return this.onOwnNode(vmOps.openStream, request, options);
  }

  guestMetrics(request: IncarnationRequest, options?: CallOptions): Promise<GuestMetricsView> {
    return this.onOwnNode(vmOps.guestMetrics, request, options);
  }

  openTerminal(request: OpenTerminalRequest, options?: CallOptions): Promise<TerminalView> {
    return this.onOwnNode(vmOps.openTerminal, request, options);
  }

  listTerminals(machineId: string, options?: CallOptions): Promise<TerminalList> {
    return this.onOwnNode(vmOps.listTerminals, { machineId }, options);
  }

  showTerminal(request: TerminalRequest, options?: CallOptions): Promise<TerminalView> {
    return this.onOwnNode(vmOps.showTerminal, request, options);
  }

  closeTerminal(request: TerminalRequest, options?: CallOptions): Promise<TerminalView> {
    return this.onOwnNode(vmOps.closeTerminal, request, options);
  }

  attachTerminal(request: AttachTerminalRequest, options?: CallOptions): Promise<TerminalTicket> {
    return this.onOwnNode(vmOps.attachTerminal, request, options);
  }

  locateTerminal(request: LocateTerminalRequest, options?: CallOptions): Promise<StreamTicket> {
    return this.onOwnNode(vmOps.locateTerminal, request, options);
  }

  /** `fetchPicture` gets the picture behind the answer's ticket. */
  screenshot(request: IncarnationRequest, options?: CallOptions): Promise<ScreenshotView> {
    return this.onOwnNode(vmOps.screenshot, request, options);
  }

  click(request: ClickRequest, options?: CallOptions): Promise<InputView> {
    return this.onOwnNode(vmOps.click, request, options);
  }

  typeText(request: TypeTextRequest, options?: CallOptions): Promise<InputView> {
    return this.onOwnNode(vmOps.typeText, request, options);
  }

  pressKeys(request: PressKeysRequest, options?: CallOptions): Promise<InputView> {
    return this.onOwnNode(vmOps.pressKeys, request, options);
  }

  scroll(request: ScrollRequest, options?: CallOptions): Promise<InputView> {
    return this.onOwnNode(vmOps.scroll, request, options);
  }
}
