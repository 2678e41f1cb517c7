import { Link } from 'react-router';
import { useMachines } from '../api/machines';
import { Console } from '../components/console';
import { Section } from '../components/page';
import { SerialConsole } from '../machines/evidence/serial-console';

/** The serial console of the machine that a freeze boots, as it boots. The machine is owned by the operation. */
export function SmokeConsole({
  operationId,
  isRunning,
}: {
  readonly operationId: string;
  readonly isRunning: boolean;
}) {
  const machines = useMachines(true);
  const machine = machines.data?.items.find(({ owner }) => owner === operationId);
  if (machine === undefined) {
    return (
      <Section title="Console of the smoke boot">
        <Console
          label="Output of the smoke boot"
          length={0}
          emptyText={isRunning ? 'The machine is being started …' : 'No machine was started.'}
        >
          {null}
        </Console>
      </Section>
    );
  }
  const { machineId, incarnation, state } = machine;
  return (
    <Section
      title="Console of the smoke boot"
      note={<Link to={`/machines/${machineId}`}>Machine and its evidence</Link>}
    >
      <SerialConsole machineId={machineId} incarnation={incarnation} isLive={state !== 'ended'} quotes={[]} />
    </Section>
  );
}
