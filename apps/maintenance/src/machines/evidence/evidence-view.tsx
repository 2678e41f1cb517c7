import { useMemo } from 'react';
import type { EvidenceFileName, MachineView } from '@inquest/contracts-vm';
import { useEvidenceFile, useVerdict } from '../../api/machines';
import { EmptyState, Loading, ProblemNotice } from '../../components/notice';
import { Section } from '../../components/page';
import { SerialConsole } from './serial-console';
import { buildTimeline, summarizeTimeline } from './timeline';
import { TimelineList } from './timeline-list';

interface EvidenceViewProps {
  readonly machine: MachineView;
  readonly incarnation: number;
  readonly isLive: boolean;
}

/** The evidence of one incarnation: events, probes, host actions, network and console growth on one time line, and the console. */
export function EvidenceView({ machine, incarnation, isLive }: EvidenceViewProps) {
  const { machineId } = machine;
  const use = (file: EvidenceFileName) => useEvidenceFile({ machineId, incarnation, file }, { isLive });
  const actions = use('actions.jsonl');
  const probes = use('probes.jsonl');
  const events = use('events.jsonl');
  const egress = use('egress.jsonl');
  const serial = use('serial.log');
  const verdict = useVerdict(machineId, incarnation, isLive ? machine.state : 'ended');
  const deciding = verdict.data?.verdict.deciding;
  const entries = useMemo(
    () => buildTimeline({ actions, probes, events, egress, serial }, deciding ?? []),
    [actions, probes, events, egress, serial, deciding],
  );
  const parts = [actions, probes, events, egress];
  const problem = parts.find((part) => part.problem !== null)?.problem ?? null;
  const isLoaded = parts.every((part) => part.isLoaded);
  return (
    <div className="columns">
      <Section title="Time line" note={isLoaded ? summarizeTimeline(entries) : 'Loading …'}>
        {problem && <ProblemNotice error={problem} />}
        {!isLoaded && <Loading what="the evidence" rows={5} />}
        {isLoaded && entries.length === 0 && (
          <EmptyState title="No evidence yet">
            <p>It begins when the machine is started. If it stays empty, look into the log of vm-service.</p>
          </EmptyState>
        )}
        {isLoaded && entries.length > 0 && <TimelineList entries={entries} startMs={entries[0]?.atMs ?? 0} />}
      </Section>
      <Section title="Serial console" note={isLive ? 'live' : 'as it ended'}>
        <SerialConsole machineId={machineId} incarnation={incarnation} isLive={isLive} quotes={deciding ?? []} />
      </Section>
    </div>
  );
}
