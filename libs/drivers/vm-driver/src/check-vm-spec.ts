import path from 'node:path';
import { ID_PATTERN } from '@inquest/kernel';
import { vmDriverError } from './errors';
import { peerSocket } from './peer-network';
import { INSTANCE_SOCKETS, instanceFile, SOCKET_PATH_MAX_BYTES } from './instance-files';
import { DISK_FORMATS, type VmSpec } from './vm-specification';

const HOSTNAME_PATTERN = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
// Blanks would split one kernel argument in two; control characters have no place in it.
const KERNEL_ARGUMENT_PATTERN = /^[!-~]{1,256}$/;
const MAX_KERNEL_ARGUMENTS = 64;
const MAX_PORT = 0xffff_ffff;
const SHARE_TAG_PATTERN = /^[a-z][a-z0-9]{0,30}$/;
const MAX_SHARES = 8;
/** The last byte of an address; 255 is everybody's. */
const MAX_PEER_INDEX = 254;
const MAX_NEIGHBOURS = 15;
const MAX_RTC_MS = Date.UTC(2100, 0, 1);

/**
 * Checks everything about a specification that needs no look at the disk.
 * Throws `VM_SPEC_INVALID` naming every wrong value at once.
 */
export function checkVmSpec(spec: VmSpec, instancesRoot: string): void {
  const problems = [
    ...shapeProblems(spec),
    ...bootProblems(spec),
    ...pathProblems(spec, instancesRoot),
    ...shareProblems(spec),
    ...networkProblems(spec),
  ];
  if (problems.length === 0) return;
  throw vmDriverError(
    'VM_SPEC_INVALID',
    `the specification of machine ${preview(spec.machineId)} is invalid: ${problems.join('; ')}`,
  );
}

/** Throws `VM_SPEC_INVALID` unless `directory` is a direct child of `instancesRoot`. */
export function checkInstanceDirectory(directory: string, instancesRoot: string): void {
  if (isInstanceDirectory(directory, instancesRoot)) return;
  throw vmDriverError(
    'VM_SPEC_INVALID',
    `${preview(directory)} is not an instance directory directly below ${instancesRoot}`,
  );
}

const isInstanceDirectory = (directory: string, instancesRoot: string): boolean =>
  path.isAbsolute(directory) &&
  path.dirname(directory) === path.resolve(instancesRoot) &&
  ID_PATTERN.test(path.basename(directory));

function* shapeProblems(spec: VmSpec): Generator<string> {
  if (!ID_PATTERN.test(spec.machineId)) yield `machineId must match ${ID_PATTERN.source}`;
  if (!isIntegerIn(spec.incarnation, 1, Number.MAX_SAFE_INTEGER)) yield 'incarnation must be a whole number from 1';
  if (!isIntegerIn(spec.cpus, 1, 64)) yield 'cpus must be 1 to 64';
  if (!isIntegerIn(spec.memoryMib, 64, 1_048_576)) yield 'memoryMib must be 64 to 1048576';
  if (spec.rtcBaseMs !== null && !isIntegerIn(spec.rtcBaseMs, 0, MAX_RTC_MS))
    yield 'rtcBaseMs must lie between 1970 and 2100';
  if (!isIntegerIn(spec.limits.startTimeoutMs, 1, 3_600_000)) yield 'limits.startTimeoutMs must be 1 to 3600000';
  const { overlayBytes } = spec.limits;
  if (overlayBytes !== null && !isIntegerIn(overlayBytes, 1_048_576, Number.MAX_SAFE_INTEGER)) {
    yield 'limits.overlayBytes must be at least 1048576';
  }
  const ports = spec.listeners.map((listener) => listener.port);
  if (!ports.every((port) => isIntegerIn(port, 1, MAX_PORT))) yield `listeners must have ports from 1 to ${MAX_PORT}`;
  if (new Set(ports).size !== ports.length) yield 'listeners must have different ports';
}

function* bootProblems({ hostname, boot, disk }: VmSpec): Generator<string> {
  if (!HOSTNAME_PATTERN.test(hostname)) yield 'hostname must be 1 to 63 letters, digits and inner dashes';
  if (boot.commandLine.length > MAX_KERNEL_ARGUMENTS)
    yield `boot.commandLine must have at most ${MAX_KERNEL_ARGUMENTS} arguments`;
  const refused = boot.commandLine.find((argument) => !KERNEL_ARGUMENT_PATTERN.test(argument));
  if (refused !== undefined)
    yield `boot.commandLine has ${preview(refused)}; arguments are printable ASCII without blanks`;
  if (!DISK_FORMATS.includes(disk.baseFormat)) yield `disk.baseFormat must be one of ${DISK_FORMATS.join(', ')}`;
}

function* pathProblems(spec: VmSpec, instancesRoot: string): Generator<string> {
  if (!isInstanceDirectory(spec.directory, instancesRoot)) yield `directory must be a direct child of ${instancesRoot}`;
  const longest = Math.max(...INSTANCE_SOCKETS.map((file) => Buffer.byteLength(instanceFile(spec.directory, file))));
  if (longest > SOCKET_PATH_MAX_BYTES) {
    yield `directory is ${longest - SOCKET_PATH_MAX_BYTES} bytes too long for the unix sockets in it`;
  }
  const paths = {
    evidenceDirectory: spec.evidenceDirectory,
    'boot.kernelPath': spec.boot.kernelPath,
    'boot.initramfsPath': spec.boot.initramfsPath,
    'disk.basePath': spec.disk.basePath,
  };
  for (const [name, value] of Object.entries(paths)) {
    if (!isAbsolutePath(value)) yield `${name} must be an absolute path`;
  }
}

function* shareProblems({ shares = [] }: VmSpec): Generator<string> {
  if (shares.length > MAX_SHARES) yield `shares must be at most ${MAX_SHARES}`;
  const tags = shares.map(({ tag }) => tag);
  if (!tags.every((tag) => SHARE_TAG_PATTERN.test(tag))) yield `shares must have tags like ${SHARE_TAG_PATTERN.source}`;
  if (new Set(tags).size !== tags.length) yield 'shares must have different tags';
  if (!shares.every((share) => isAbsolutePath(share.path))) yield 'shares must have absolute paths';
}

function* networkProblems({ network }: VmSpec): Generator<string> {
  if (network === undefined) return;
  const { directory, index, neighbours } = network;
  const numbers = [index, ...neighbours];
  if (!numbers.every((number) => isIntegerIn(number, 1, MAX_PEER_INDEX)) || new Set(numbers).size !== numbers.length) {
    yield `network must have different numbers from 1 to ${MAX_PEER_INDEX}`;
  }
  if (neighbours.length === 0 || neighbours.length > MAX_NEIGHBOURS) {
    yield `network must have 1 to ${MAX_NEIGHBOURS} neighbours`;
  }
  if (!isAbsolutePath(directory)) yield 'network.directory must be an absolute path';
  const longest = Buffer.byteLength(peerSocket(directory, MAX_PEER_INDEX, MAX_PEER_INDEX));
  if (longest > SOCKET_PATH_MAX_BYTES) {
    yield `network.directory is ${longest - SOCKET_PATH_MAX_BYTES} bytes too long for the unix sockets in it`;
  }
}

const isAbsolutePath = (value: string): boolean => path.isAbsolute(value) && !/[\0\n]/.test(value);

const isIntegerIn = (value: number, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max;

const preview = (value: string): string => JSON.stringify(value.slice(0, 120));
