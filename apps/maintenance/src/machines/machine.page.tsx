import { useState } from 'react';
import { Link, useParams } from 'react-router';
import type { MachineView } from '@inquest/contracts-vm';
import { printable } from '@inquest/transcript';
import { useMachine, useMachineAct, useVerdict } from '../api/machines';
import { toProblem } from '../api/problem';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { Facts } from '../components/facts';
import { LiveText } from '../components/live-text';
import { ProblemNotice } from '../components/notice';
import { Page, Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { MACHINE_TONE } from '../components/tone';
import { VerdictCard } from '../components/verdict-card';
import { TerminalsSection } from '../terminal/terminals-section';
import { words } from '../text/phrases';
import { EvidenceView } from './evidence/evidence-view';
import { LastSeen } from './last-seen';
import { MachineActions } from './machine-actions';
import { ScreenSection } from './screen-section';

/** One machine: how it is, how it ended, and the evidence for that. */
export function MachinePage() {
  const { machineId = '' } = useParams();
  const machine = useMachine(machineId);
  const { data } = machine;
  return (
    <Page
      title={data?.name ?? machineId}
      parent={{ to: '/machines', title: 'Machines' }}
      mark={data && <Badge tone={MACHINE_TONE[data.state]}>{data.state}</Badge>}
    >
      <QueryView answer={machine} what={`machine ${machineId}`}>
        {(view) => <Machine machine={view} />}
      </QueryView>
    </Page>
  );
}

function Machine({ machine }: { readonly machine: MachineView }) {
  const { machineId, incarnation, state, message, image, version } = machine;
  const act = useMachineAct(machine);
  const [shown, setShown] = useState<number | null>(null);
  const shownIncarnation = shown ?? incarnation;
  return (
    <>
      <MachineActions machine={machine} act={act} />
      {act.error !== null && <ProblemNotice error={act.error} />}
      <LiveText>{`${machine.name ?? machineId} is ${words(state)}`}</LiveText>
      <Facts
        facts={[
          { label: 'Seen', value: <LastSeen machine={machine} /> },
          { label: 'Image', value: <Link to={`/images/${image}/versions/${version}`}>{`${image}:${version}`}</Link> },
          { label: 'Started', value: <Ago atMs={machine.createdAtMs} /> },
          { label: 'Size', value: `${machine.cpus} CPU, ${machine.memoryMib} MiB` },
          { label: 'Accelerator', value: machine.accelerator },
          { label: 'Node', value: machine.node },
          { label: 'For', value: machine.owner ?? 'nobody in particular' },
          { label: 'Id', value: <code className="wrap">{machineId}</code> },
          { label: 'Message', value: printable(message), isWide: true },
        ]}
      />
      {incarnation > 1 && <IncarnationChoice count={incarnation} shown={shownIncarnation} onChange={setShown} />}
      {state === 'ready' && machine.hasScreen && <ScreenSection machine={machine} />}
      {state === 'ready' && <TerminalsSection machine={machine} />}
      <Section title="Verdict">
        <MachineVerdict machine={machine} incarnation={shownIncarnation} />
      </Section>
      <EvidenceView
        machine={machine}
        incarnation={shownIncarnation}
        isLive={state !== 'ended' && shownIncarnation === incarnation}
      />
    </>
  );
}

/** What vm-service says of an incarnation whose evidence is open and that is not running yet. */
const NOTHING_TO_JUDGE = 'EVIDENCE_META_MISSING';

function MachineVerdict({ machine, incarnation }: { readonly machine: MachineView; readonly incarnation: number }) {
  const { machineId } = machine;
  const isCurrent = incarnation === machine.incarnation;
  const verdict = useVerdict(machineId, incarnation, isCurrent ? machine.state : 'ended');
  if (isCurrent && machine.verdict !== null) return <VerdictCard verdict={machine.verdict} isProvisional={false} />;
  if (verdict.error !== null && toProblem(verdict.error).code === NOTHING_TO_JUDGE) {
    return <p className="absent">There is nothing to judge yet: the machine has not begun to run.</p>;
  }
  return (
    <QueryView answer={verdict} what="the verdict" rows={1}>
      {(report) => <VerdictCard verdict={report.verdict} isProvisional={report.isProvisional} />}
    </QueryView>
  );
}

interface IncarnationChoiceProps {
  readonly count: number;
  readonly shown: number;
  readonly onChange: (incarnation: number) => void;
}

/** A machine that was reset has had several lives; each keeps its own evidence. */
function IncarnationChoice({ count, shown, onChange }: IncarnationChoiceProps) {
  return (
    <div className="field field-inline">
      <label htmlFor="incarnation">Incarnation</label>
      <select id="incarnation" className="input" value={shown} onChange={(e) => onChange(Number(e.target.value))}>
        {Array.from({ length: count }, (_, at) => count - at).map((incarnation) => (
          <option key={incarnation} value={incarnation}>
            {incarnation === count ? `${incarnation} (the current one)` : incarnation}
          </option>
        ))}
      </select>
    </div>
  );
}
