import { Controller, type Type } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { dto, type StreamTicket } from '@inquest/contracts-base';
import {
  CancelledExecView,
  type CancelExecRequest,
  DestroyedView,
  DestroyMachineRequest,
  EvidenceRequest,
  EvidenceView,
  ExecRequest,
  IncarnationRequest,
  ListFilesRequest,
  ListFilesView,
  ListMachinesRequest,
  MachineList,
  MachineRequest,
  MakeTemplateRequest,
  NodeView,
  OpenStreamRequest,
  ReadFileRequest,
  ReadFileView,
  RemovedTemplatesView,
  RemoveTemplatesRequest,
  ResetMachineRequest,
  ScreenshotView,
  ShutdownMachineRequest,
  StartMachineRequest,
  TemplateStateRequest,
  TemplateStateView,
  TemplateView,
  VerdictReport,
  vmError,
  vmOps,
  WaitMachineRequest,
  WriteFileRequest,
  WriteFileView,
  type ExecView,
  type MachineView,
} from '@inquest/contracts-vm';
import { RpcHandler } from '@inquest/messaging';
import type { FakeVmService } from './fake-vm-service';

/** The controller of one `FakeVmService`: the operations that other services call. */
export function fakeVmController(service: FakeVmService): Type {
  @Controller()
  class FakeVmController {
    @RpcHandler(vmOps.nodes, { everyNode: true })
    nodes(): Promise<NodeView> {
      const { nodeId: node, memoryAvailableMib } = service;
      const facts = { node, driver: 'fake', accelerator: 'tcg', acceleratorReason: '', memoryTotalMib: 8192 };
      return service.perform('nodes', () =>
        dto(NodeView, { ...facts, memoryAvailableMib, liveMachines: service.live.length, warmMachines: 0 }),
      );
    }

    @RpcHandler(vmOps.list, { everyNode: true })
    list(@Payload() { includeEnded }: ListMachinesRequest): Promise<MachineList> {
      const items = (includeEnded ? [...service.machines.values()] : service.live).map(({ view }) => view);
      return service.perform('list', () => dto(MachineList, { items }));
    }

    @RpcHandler(vmOps.find, { everyNode: true })
    find(@Payload() { machineId }: MachineRequest): Promise<MachineList | null> {
      const found = service.live.filter(({ view }) => view.name === machineId || view.machineId === machineId);
      return service.perform('find', () =>
        found.length === 0 ? null : dto(MachineList, { items: found.map(({ view }) => view) }),
      );
    }

    @RpcHandler(vmOps.start)
    start(@Payload() request: StartMachineRequest): Promise<MachineView> {
      return service.perform('start', () => service.begin(request).view);
    }

    @RpcHandler(vmOps.makeTemplate)
    makeTemplate(@Payload() { image, version, cpus, memoryMib }: MakeTemplateRequest): Promise<TemplateView> {
      return service.perform('makeTemplate', async () => {
        await service.duringTemplate();
        const key = `${image}:${version}`;
        const isNew = !service.templates.has(key) || service.unfitTemplates.delete(key);
        service.templates.add(key);
        return dto(TemplateView, { node: service.nodeId, image, version, cpus, memoryMib: memoryMib ?? 256, isNew });
      });
    }

    @RpcHandler(vmOps.templateState, { everyNode: true })
    templateState(@Payload() { image, version }: TemplateStateRequest): Promise<TemplateStateView> {
      return service.perform('templateState', () => {
        const key = `${image}:${version}`;
        const isThere = service.templates.has(key);
        const state = isThere ? (service.unfitTemplates.get(key) ?? 'ready') : 'missing';
        return dto(TemplateStateView, {
          node: service.nodeId,
          state,
          detail: state === 'ready' ? '' : `it is ${state}`,
        });
      });
    }

    @RpcHandler(vmOps.removeTemplates, { everyNode: true })
    removeTemplates(@Payload() { image, version }: RemoveTemplatesRequest): Promise<RemovedTemplatesView> {
      return service.perform('removeTemplates', () => {
        service.templates.delete(`${image}:${version}`);
        return dto(RemovedTemplatesView, { node: service.nodeId });
      });
    }

    @RpcHandler(vmOps.show)
    show(@Payload() { machineId }: MachineRequest): Promise<MachineView> {
      return service.perform('show', () => service.find(machineId).view);
    }

    @RpcHandler(vmOps.wait)
    wait(@Payload() { machineId, states, waitMs }: WaitMachineRequest): Promise<MachineView> {
      return service.perform('wait', () =>
        service.waiters.wait(
          machineId,
          () => Promise.resolve(service.find(machineId).view),
          ({ state }) => states.includes(state),
          waitMs,
        ),
      );
    }

    @RpcHandler(vmOps.reset)
    reset(@Payload() { machineId }: ResetMachineRequest): Promise<MachineView> {
      return service.perform('reset', () => {
        const machine = service.find(machineId);
        machine.view = { ...machine.view, incarnation: machine.view.incarnation + 1 };
        return machine.view;
      });
    }

    @RpcHandler(vmOps.shutdown)
    shutdown(@Payload() { machineId }: ShutdownMachineRequest): Promise<MachineView> {
      return service.perform('shutdown', () => {
        const machine = service.ready(machineId);
        service.end(machine, 'clean_poweroff');
        return machine.view;
      });
    }

    @RpcHandler(vmOps.destroy)
    destroy(@Payload() { machineId }: DestroyMachineRequest): Promise<DestroyedView> {
      return service.perform('destroy', () => {
        const machine = service.find(machineId);
        const signalled = machine.isLive;
        service.end(machine, 'host_killed');
        machine.remove();
        const { verdict } = machine.view;
        return dto(DestroyedView, { machineId, killed: true, signalled, directoryRemoved: true, verdict });
      });
    }

    @RpcHandler(vmOps.verdict)
    verdict(@Payload() { machineId }: IncarnationRequest): Promise<VerdictReport> {
      return service.perform('verdict', () => {
        const { verdict, incarnation } = service.find(machineId).view;
        if (verdict === null) throw vmError('MACHINE_STATE_WRONG', `machine ${machineId} has not ended`);
        return dto(VerdictReport, { machineId, incarnation, verdict, engineVersion: 'fake', isProvisional: false });
      });
    }

    @RpcHandler(vmOps.evidence)
    evidence(@Payload() { machineId, file }: EvidenceRequest): Promise<EvidenceView> {
      return service.perform('evidence', () => {
        const { incarnation } = service.find(machineId).view;
        return dto(EvidenceView, { machineId, incarnation, file, text: '', nextOffset: 0, sizeBytes: 0 });
      });
    }

    @RpcHandler(vmOps.exec)
    exec(@Payload() request: ExecRequest): Promise<ExecView> {
      return service.perform('exec', () => service.exec(request));
    }

    @RpcHandler(vmOps.cancelExec)
    cancelExec(@Payload() _request: CancelExecRequest): Promise<CancelledExecView> {
      return service.perform('cancelExec', () => dto(CancelledExecView, { isCancelled: true }));
    }

    @RpcHandler(vmOps.readFile)
    readFile(@Payload() { machineId, path, maxBytes }: ReadFileRequest): Promise<ReadFileView> {
      return service.perform('readFile', () => {
        const content = service.ready(machineId).files.read(path);
        if (content === null) throw vmError('GUEST_PATH_UNFIT', `${path} cannot be read as text`);
        return dto(ReadFileView, {
          text: content.subarray(0, maxBytes).toString('utf8'),
          sizeBytes: content.length,
          isTruncated: content.length > maxBytes,
          isLossy: false,
        });
      });
    }

    @RpcHandler(vmOps.writeFile)
    writeFile(@Payload() { machineId, path, text, mode }: WriteFileRequest): Promise<WriteFileView> {
      return service.perform('writeFile', () => {
        service.ready(machineId).files.write(path, text, parseInt(mode ?? '644', 8));
        return dto(WriteFileView, { sizeBytes: Buffer.byteLength(text) });
      });
    }

    @RpcHandler(vmOps.listFiles)
    listFiles(@Payload() { machineId, path }: ListFilesRequest): Promise<ListFilesView> {
      return service.perform('listFiles', () => {
        const { files } = service.ready(machineId);
        const entries = files.under(path).map((file) => ({
          name: file.slice(path.length + 1),
          kind: 'file' as const,
          sizeBytes: files.read(file)?.length ?? 0,
          mode: '644',
          modifiedAtMs: 0,
        }));
        return dto(ListFilesView, { entries, isTruncated: false });
      });
    }

    @RpcHandler(vmOps.openStream)
    openStream(@Payload() request: OpenStreamRequest): Promise<StreamTicket> {
      return service.perform('openStream', () => service.streams.issue(request));
    }

    @RpcHandler(vmOps.screenshot)
    screenshot(@Payload() { machineId }: IncarnationRequest): Promise<ScreenshotView> {
      return service.perform('screenshot', () => {
        const { picture: png } = service;
        service.ready(machineId);
        if (png === null) throw vmError('MACHINE_CAPABILITY_MISSING', `machine ${machineId} has no screen`);
        const picture = service.streams.issuePicture(png);
        return dto(ScreenshotView, { machineId, width: 640, height: 400, sizeBytes: png.length, picture });
      });
    }
  }
  return FakeVmController;
}
