import { vmError } from '@inquest/contracts-vm';
import type { DomainError } from '@inquest/kernel';
import type { MachineEntity } from './machine.entity';

// One place for each refusal that several parts say about a machine.

export const staleIncarnation = ({ machineId, incarnation }: MachineEntity, meant: number): DomainError =>
  vmError('MACHINE_INCARNATION_STALE', `machine ${machineId} is in incarnation ${incarnation}, not ${meant}`, {
    machine: machineId,
    incarnation,
  });

/** `consequence` goes on where the state ends: "and cannot be powered off". */
export const stateWrong = ({ machineId, state, reason, message }: MachineEntity, consequence: string): DomainError =>
  vmError('MACHINE_STATE_WRONG', `machine ${machineId} is ${state} (${reason}) ${consequence}: ${message}`, {
    machine: machineId,
    state,
  });
