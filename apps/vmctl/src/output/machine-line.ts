import type { MachineView } from '@inquest/contracts-vm';
import { printableLine } from '@inquest/transcript';

/** A machine in one line. */
export function machineLine(machine: MachineView): string {
  const { machineId, name, image, version, state, message, accelerator, memoryMib, peer } = machine;
  const called = name === null ? machineId : `${name} (${machineId})`;
  const wired = peer === null ? '' : `  ${peer.address}`;
  return `${called}${wired}  ${image}:${version}  ${memoryMib} MiB  ${accelerator}  ${state}: ${message}`;
}

/** A line for each thing that a machine was given: its clock, its screen, its directories. */
export const givenLines = ({ rtcBaseMs, hasScreen, shares }: MachineView): string[] => [
  ...(rtcBaseMs === null ? [] : [`  clock: starts at ${new Date(rtcBaseMs).toISOString()}`]),
  ...(hasScreen ? ['  screen: see it with vmctl shot'] : []),
  ...shares.map(({ directory, guestPath, isAttached }) => {
    const since = isAttached ? '' : ', after its next reset';
    return `  share: ${printableLine(directory)} at ${printableLine(guestPath)}${since}`;
  }),
];
