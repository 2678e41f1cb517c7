import { checkVmSpec, vmDriverError, type VmSpec } from '@inquest/vm-driver';

/** MAX_SUPPORTED_VCPUS of Firecracker. */
const MAX_CPUS = 32;

/**
 * Checks everything about a specification that needs no look at the disk. Throws `VM_SPEC_INVALID` for what no driver
 * accepts, and for more processors than Firecracker has; `VM_CAPABILITY_MISSING` for what Firecracker cannot do.
 */
export function checkFirecrackerSpec(spec: VmSpec, instancesRoot: string): void {
  checkVmSpec(spec, instancesRoot);
  const { machineId, cpus } = spec;
  if (cpus > MAX_CPUS) {
    throw vmDriverError(
      'VM_SPEC_INVALID',
      `the specification of machine ${machineId} is invalid: cpus must be 1 to ${MAX_CPUS} under Firecracker`,
    );
  }
  const [lacking] = lackingPowers(spec);
  if (lacking === undefined) return;
  throw vmDriverError('VM_CAPABILITY_MISSING', `machine ${machineId} wants ${lacking}, which Firecracker cannot give`, {
    machineId,
  });
}

function* lackingPowers({ rtcBaseMs, isCapturable, disk, shares = [], network }: VmSpec): Generator<string> {
  // Its guests on x86 have no clock chip, only the host's time through kvm-clock.
  if (rtcBaseMs !== null) yield 'a clock of its own (rtcBaseMs)';
  if (isCapturable === true) yield 'to become a template';
  if (shares.length > 0) yield 'directories of the host (shares)';
  if (network !== undefined) yield 'a network';
  if (disk.baseFormat !== 'raw') yield `a disk in the format ${disk.baseFormat}`;
}
