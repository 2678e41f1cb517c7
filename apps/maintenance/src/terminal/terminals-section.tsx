import { Button } from 'react-aria-components';
import { useNavigate } from 'react-router';
import type { MachineView, TerminalView } from '@inquest/contracts-vm';
import { printable } from '@inquest/transcript';
import { useOpenTerminal, useTerminals } from '../api/terminals';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { ProblemNotice } from '../components/notice';
import { Section } from '../components/page';
import { RecordCard, RecordList } from '../components/record-list';

/** The terminals of a machine that runs, and a way to open another. */
export function TerminalsSection({ machine }: { readonly machine: MachineView }) {
  const navigate = useNavigate();
  const terminals = useTerminals(machine.machineId);
  const opening = useOpenTerminal(machine);
  const open = (): void => opening.mutate(undefined, { onSuccess: (terminal) => void navigate(pathOf(terminal)) });
  const items = terminals.data?.items ?? [];
  const error = opening.error ?? terminals.error;
  return (
    <Section
      title="Terminals"
      note={
        <Button className="button" isDisabled={opening.isPending} onPress={open}>
          {opening.isPending ? 'Opening …' : 'Open a terminal'}
        </Button>
      }
    >
      {error !== null && <ProblemNotice error={error} />}
      {items.length === 0 ? (
        <p className="absent">None is open.</p>
      ) : (
        <RecordList label="Terminals">
          {items.map((terminal) => (
            <TerminalCard key={terminal.terminalId} terminal={terminal} />
          ))}
        </RecordList>
      )}
    </Section>
  );
}

function TerminalCard({ terminal }: { readonly terminal: TerminalView }) {
  const { terminalId, command, state, message, cols, rows, viewers, openedAtMs } = terminal;
  return (
    <RecordCard
      title={terminalId}
      to={pathOf(terminal)}
      mark={<Badge tone={state === 'running' ? 'good' : 'quiet'}>{state}</Badge>}
      headingLevel={3}
      summary={state === 'running' ? null : printable(message)}
      facts={[
        { label: 'Command', value: command === null ? 'login shell' : printable(command) },
        { label: 'Size', value: `${cols} × ${rows}` },
        { label: 'Viewers', value: viewers },
        { label: 'Opened', value: <Ago atMs={openedAtMs} /> },
      ]}
    />
  );
}

const pathOf = ({ machineId, terminalId }: TerminalView): string => `/machines/${machineId}/terminals/${terminalId}`;
