import { useId, useRef } from 'react';
import { Button } from 'react-aria-components';
import { Link, useParams } from 'react-router';
import '@xterm/xterm/css/xterm.css';
import { printable } from '@inquest/transcript';
import { useMachine } from '../api/machines';
import { useCloseTerminal } from '../api/terminals';
import { AskDialog } from '../components/ask-dialog';
import { Badge } from '../components/badge';
import { LiveText } from '../components/live-text';
import { ProblemNotice } from '../components/notice';
import { Page } from '../components/page';
import { count } from '../text/phrases';
import { WAY_OUT } from './screen';
import './terminal.css';
import type { LinkState } from './terminal-link';
import { useTerminal } from './use-terminal';

const TONES = { connecting: 'busy', open: 'good', broken: 'warn', ended: 'quiet', refused: 'bad' } as const;

/** A terminal of a machine. Leaving the page leaves it running. */
export function TerminalPage() {
  const { machineId = '', terminalId = '' } = useParams();
  // Another terminal is another screen.
  return <TerminalView key={`${machineId} ${terminalId}`} machineId={machineId} terminalId={terminalId} />;
}

interface TerminalViewProps {
  readonly machineId: string;
  readonly terminalId: string;
}

function TerminalView({ machineId, terminalId }: TerminalViewProps) {
  const machine = useMachine(machineId);
  const name = machine.data?.name ?? machineId;
  const box = useRef<HTMLDivElement>(null);
  const wayOut = useRef<HTMLButtonElement>(null);
  const hint = useId();
  const { state, takeControl, focus } = useTerminal(machineId, terminalId, box, {
    describedBy: hint,
    onLeave: () => wayOut.current?.focus(),
  });
  const close = useCloseTerminal(machineId, terminalId);
  const { status, isController } = state;
  return (
    <Page
      title={`Terminal of ${name}`}
      parent={{ to: `/machines/${machineId}`, title: name }}
      mark={<Badge tone={TONES[status]}>{status}</Badge>}
    >
      <LiveText>{sentence(state)}</LiveText>
      <p className="screen-state">{sentence(state)}</p>
      {state.problem !== null && <ProblemNotice error={state.problem} />}
      {close.error !== null && <ProblemNotice error={close.error} />}
      <div className="screen-frame" data-can-type={isController} role="region" aria-label={`Screen of ${name}`}>
        <div ref={box} className="screen" />
      </div>
      <p id={hint} className="screen-hint">
        Every key goes to the machine, the tabulator too. <kbd>{WAY_OUT}</kbd> leaves the screen for the buttons below.
      </p>
      <div className="actions">
        <Button ref={wayOut} className="button" onPress={focus}>
          Back to the screen
        </Button>
        {status === 'open' && !isController && (
          <Button className="button primary" onPress={takeControl}>
            Take control
          </Button>
        )}
        {status === 'ended' ? (
          <Link className="button" to={`/machines/${machineId}`}>
            To the machine
          </Link>
        ) : (
          <AskDialog
            trigger={close.isPending ? 'Ending …' : 'End it'}
            title="End this terminal?"
            confirm="End it"
            isDanger
            isBusy={close.isPending}
            onConfirm={() => close.mutate()}
          >
            <p>Its command is killed, and everything that it started. To only leave it, go to another page.</p>
          </AskDialog>
        )}
      </div>
    </Page>
  );
}

/** How the viewing stands, for people. */
function sentence({ status, isController, isControlled, viewers, ended }: LinkState): string {
  switch (status) {
    case 'connecting':
      return 'Connecting …';
    case 'broken':
      return 'The connection broke. Trying again; the command goes on.';
    case 'refused':
      return 'This terminal cannot be shown.';
    case 'ended':
      return `It has ended: ${printable(ended?.message ?? '')}.`;
    case 'open': {
      const others = viewers > 1 ? `, with ${count(viewers - 1, 'other viewer')}` : '';
      if (isController) return `You are in control${others}.`;
      return isControlled
        ? `Somebody else is in control; you are watching${others}.`
        : `Nobody is in control${others}.`;
    }
  }
}
