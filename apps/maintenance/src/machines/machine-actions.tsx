import type { MachineView } from '@inquest/contracts-vm';
import type { useMachineAct } from '../api/machines';
import { AskDialog } from '../components/ask-dialog';

interface MachineActionsProps {
  readonly machine: MachineView;
  readonly act: ReturnType<typeof useMachineAct>;
}

/** What can be done to a machine in its state. Each says what it costs before it is done. */
export function MachineActions({ machine, act }: MachineActionsProps) {
  const { state, isRemoved, name, machineId } = machine;
  if (isRemoved) return null;
  const title = name ?? machineId;
  const { isPending, variables } = act;
  const label = (own: string, idle: string, busy: string): string => (isPending && variables === own ? busy : idle);
  return (
    <div className="actions">
      {state === 'ready' && (
        <AskDialog
          trigger={label('shutdown', 'Power off', 'Powering off …')}
          title={`Power off ${title}?`}
          confirm="Power it off"
          isBusy={isPending}
          onConfirm={() => act.mutate('shutdown')}
        >
          <p>The guest is asked to power off. Nothing is killed; if it does not obey, the verdict says so.</p>
        </AskDialog>
      )}
      <AskDialog
        trigger={label('reset', 'Reset', 'Resetting …')}
        title={`Reset ${title}?`}
        confirm="Reset it"
        isDanger
        isBusy={isPending}
        onConfirm={() => act.mutate('reset')}
      >
        <p>It is killed and starts afresh on an empty overlay. What was in it is lost; its evidence is kept.</p>
      </AskDialog>
      <AskDialog
        trigger={label('remove', 'Remove', 'Removing …')}
        title={`Remove ${title}?`}
        confirm="Remove it"
        isDanger
        isBusy={isPending}
        onConfirm={() => act.mutate('remove')}
      >
        <p>It is killed if it runs, and its disk is deleted. Evidence and verdict are kept.</p>
      </AskDialog>
    </div>
  );
}
