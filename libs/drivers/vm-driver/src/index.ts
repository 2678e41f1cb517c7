export { vmDriverError } from './errors';
export {
  VM_DRIVER,
  type DestroyedInstance,
  type HostCheck,
  type ReapedInstance,
  type VmDriver,
  type VmDriverCapabilities,
} from './vm-driver';
export type { VmEvent, VmExit, VmHandle, VmHandleCapabilities, VmRecording, VmStatus } from './vm-handle';
export {
  DISK_FORMATS,
  type DiskFormat,
  type VmBoot,
  type VmDisk,
  type VmLimits,
  type VmListener,
  type VmNetwork,
  type VmShare,
  type VmSpec,
} from './vm-specification';
export {
  copySpecOf,
  requireInput,
  requireScreenshots,
  requireTemplates,
  supportsCopies,
  supportsInput,
  supportsScreenshots,
  supportsShares,
  supportsTemplates,
  type CopyDriver,
  type InputAction,
  type InputHandle,
  type ScreenshotHandle,
  type ShareDriver,
  type VmCopySpec,
} from './capabilities';
export {
  checkSerialCommand,
  requireSerialShell,
  SERIAL_COMMAND_MAX_BYTES,
  supportsSerialShell,
  type SerialCommand,
  type SerialResult,
  type SerialShell,
} from './serial-shell';
export { strokeOfCombination, strokesOfText, TYPED_TEXT_MAX_CHARS, type KeyStroke } from './screen/keyboard';
export { pngSize, type ScreenSize } from './screen/png-size';
export {
  cloneSpecOf,
  TEMPLATE_FLAWS,
  type TemplateDriver,
  type TemplateFlaw,
  type VmCloneSpec,
  type VmTemplate,
} from './template-driver';
export { supportsAdoption, type AdoptingDriver, type VmAdoption } from './adopting-driver';
export { giveIdentity } from './give-identity';
export { peerAddress, peerHardwareAddress, peerSocket } from './peer-network';
export { checkInstanceDirectory, checkVmSpec } from './check-vm-spec';
export {
  INSTANCE_FILES,
  INSTANCE_SOCKETS,
  instanceFile,
  overlayFile,
  SOCKET_PATH_MAX_BYTES,
  type InstanceFile,
} from './instance-files';
export { BoundedLog, RECENT_MAX_BYTES, type BoundedLogOptions } from './recording/bounded-log';
export { EventLog, type EventLogOptions } from './recording/event-log';
export { EvidenceRecorder, SERIAL_HEAD_BYTES, SERIAL_TAIL_BYTES } from './recording/evidence-recorder';
