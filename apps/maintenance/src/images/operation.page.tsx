import { useParams } from 'react-router';
import { Label, ProgressBar } from 'react-aria-components';
import type { OperationView } from '@inquest/contracts-base';
import { useCancelOperation, useImage, useOperation } from '../api/images';
import { AskDialog } from '../components/ask-dialog';
import { Badge } from '../components/badge';
import { LiveText } from '../components/live-text';
import { ProblemNotice } from '../components/notice';
import { Page, Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { OPERATION_TONE } from '../components/tone';
import { Checks } from './checks';
import { FreezeStages } from './freeze-stages';
import { OperationOutcome } from './operation-outcome';
import { SmokeConsole } from './smoke-console';
import { VersionLog } from './version-log';

const TITLES: Readonly<Record<string, string>> = {
  'image.build': 'Build',
  'image.freeze': 'Freeze',
  'image.verify': 'Verify',
  'image.unfreeze': 'Unfreeze',
  'image.import': 'Import',
  'image.template': 'Template',
};

/** Work on an image while it is done, and how it ended. */
export function OperationPage() {
  const { name = '', operationId = '' } = useParams();
  const operation = useOperation(operationId);
  const title = operation.data
    ? `${TITLES[operation.data.kind] ?? operation.data.kind} ${operation.data.subject}`
    : 'Operation';
  return (
    <Page
      title={title}
      parent={{ to: `/images/${name}`, title: name }}
      actions={operation.data?.state === 'running' && <CancelButton operationId={operationId} />}
      mark={operation.data && <Badge tone={OPERATION_TONE[operation.data.state]}>{operation.data.state}</Badge>}
    >
      <QueryView answer={operation} what="the operation">
        {(view) => <Operation name={name} operation={view} />}
      </QueryView>
    </Page>
  );
}

function CancelButton({ operationId }: { readonly operationId: string }) {
  const cancel = useCancelOperation(operationId);
  return (
    <>
      <AskDialog
        trigger={cancel.isPending ? 'Cancelling …' : 'Cancel'}
        title="Cancel this operation?"
        confirm="Cancel it"
        refuse="Let it go on"
        isDanger
        isBusy={cancel.isPending}
        onConfirm={() => cancel.mutate()}
      >
        <p>It stops at once. What it has made so far never becomes usable; its log is kept.</p>
      </AskDialog>
      {cancel.error !== null && <ProblemNotice error={cancel.error} />}
    </>
  );
}

function Operation({ name, operation }: { readonly name: string; readonly operation: OperationView }) {
  const { kind, subject, state, step, percent, operationId } = operation;
  const isRunning = state === 'running';
  const image = useImage(name, isRunning);
  // `tiny:3`
  const number = Number(subject.split(':')[1]);
  const version = image.data?.versions.find((candidate) => candidate.version === number);
  const isFreeze = kind === 'image.freeze';
  return (
    <>
      <ProgressBar className="progress" value={percent} aria-label={`Progress of ${subject}`}>
        {({ percentage, valueText }) => (
          <>
            <Label className="progress-step">{progressText(operation)}</Label>
            <span className="progress-value">{valueText}</span>
            <div className="progress-track">
              <div className="progress-fill" data-state={state} style={{ width: `${percentage ?? 0}%` }} />
            </div>
          </>
        )}
      </ProgressBar>
      <LiveText>{isRunning ? `${subject}: ${step}` : `${subject}: ${state}`}</LiveText>
      <OperationOutcome name={name} operation={operation} version={version} />
      {isFreeze && (
        <>
          <FreezeStages operation={operation} />
          <div className="columns">
            <Section title="Checks">
              <Checks checks={version?.checks ?? []} isRunning={isRunning} />
              <LiveText>{lastCheck(version?.checks)}</LiveText>
            </Section>
            <SmokeConsole operationId={operationId} isRunning={isRunning} />
          </div>
        </>
      )}
      {kind !== 'image.verify' && Number.isInteger(number) && (
        <Section title="Log">
          <VersionLog name={name} version={number} isLive={isRunning} />
        </Section>
      )}
    </>
  );
}

function progressText({ state, step }: Pick<OperationView, 'state' | 'step'>): string {
  if (state === 'running') return step;
  return state === 'succeeded' ? 'Done' : `${state} at the step: ${step}`;
}

function lastCheck(checks: readonly { readonly name: string; readonly outcome: string }[] = []): string {
  const last = checks.at(-1);
  return last === undefined ? '' : `Check ${last.outcome}: ${last.name}`;
}
