import { useState } from 'react';
import { Switch } from 'react-aria-components';
import type { MachineView } from '@inquest/contracts-vm';
import { useMachines } from '../api/machines';
import { Badge } from '../components/badge';
import { EmptyState } from '../components/notice';
import { Page } from '../components/page';
import { QueryView } from '../components/query-view';
import { RecordCard, RecordList } from '../components/record-list';
import { MACHINE_TONE, verdictTone } from '../components/tone';
import { words } from '../text/phrases';
import { LastSeen } from './last-seen';
import { StartMachineDialog } from './start-machine-dialog';

/** Machines of all nodes. */
export function MachinesPage() {
  const [all, setAll] = useState(true);
  const machines = useMachines(all);
  return (
    <Page
      title="Machines"
      actions={
        <>
          <StartMachineDialog />
          <Switch className="switch" isSelected={all} onChange={setAll}>
            <span className="switch-track" aria-hidden="true" />
            Also ended ones
          </Switch>
        </>
      }
    >
      <QueryView answer={machines} what="machines">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={all ? 'No machine was started yet' : 'No machine runs'}>
              <p>Start one on a frozen image, or let an agent work: a session starts its own.</p>
            </EmptyState>
          ) : (
            <RecordList label="Machines">
              {items.map((machine) => (
                <MachineCard key={machine.machineId} machine={machine} />
              ))}
            </RecordList>
          )
        }
      </QueryView>
    </Page>
  );
}

function MachineCard({ machine }: { readonly machine: MachineView }) {
  const { machineId, name, state, image, version, node, verdict, memoryMib, isRemoved, incarnation } = machine;
  return (
    <RecordCard
      title={name ?? machineId}
      to={`/machines/${machineId}`}
      mark={
        verdict === null ? (
          <Badge tone={MACHINE_TONE[state]}>{state}</Badge>
        ) : (
          <Badge tone={verdictTone(verdict)}>{verdict.class}</Badge>
        )
      }
      facts={[
        { label: 'State', value: isRemoved ? `${state}, removed` : state },
        { label: 'Seen', value: <LastSeen machine={machine} /> },
        { label: 'Image', value: `${image}:${version}` },
        { label: 'Memory', value: `${memoryMib} MiB` },
        { label: 'Node', value: node },
        {
          label: 'Verdict',
          value: verdict === null ? 'it has not ended' : `${words(verdict.class)}, ${verdict.confidence}`,
        },
        ...(incarnation > 1 ? [{ label: 'Incarnation', value: incarnation }] : []),
      ]}
    />
  );
}
