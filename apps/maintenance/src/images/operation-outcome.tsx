import { Link, useNavigate } from 'react-router';
import type { ImageVersionView } from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { useImageWork } from '../api/images';
import { ProblemNotice } from '../components/notice';
import { duration } from '../text/phrases';
import { FreezeButton } from './version-actions';

const DONE: Readonly<Record<string, string>> = {
  'image.build': 'Built',
  'image.freeze': 'Proven and frozen',
  'image.verify': 'Every file is as it was frozen; read again',
  'image.unfreeze': 'A working copy is open',
  'image.import': 'Imported',
  'image.template': 'The template is there, and machines start as clones; done',
};

interface OperationOutcomeProps {
  readonly name: string;
  readonly operation: OperationView;
  /** What it was done with, as it is now. */
  readonly version: ImageVersionView | undefined;
}

/** How an operation ended, and what comes next; nothing while it is at work. */
export function OperationOutcome({ name, operation, version }: OperationOutcomeProps) {
  const { kind, state, error, startedAtMs, endedAtMs } = operation;
  if (state === 'running' || endedAtMs === null) return null;
  if (error !== null) {
    return (
      <div className="notice" data-tone="bad" role="alert">
        <p className="notice-title">{error.message}</p>
        <p>{error.remediation}</p>
        <p className="notice-foot">
          <code>{error.code}</code>
        </p>
      </div>
    );
  }
  return (
    <div className="notice" data-tone="good">
      <p className="notice-title">
        {DONE[kind] ?? 'Done'} in {duration(endedAtMs - startedAtMs)}
        {kind === 'image.freeze' && version && partsOf(version)}.
      </p>
      {kind === 'image.freeze' && version?.digest && (
        <p>
          Sessions get it from now on. Its digest is <code className="wrap">{version.digest}</code>
        </p>
      )}
      {version?.state === 'built' && <FreezeNext view={version} />}
      <p>
        See <Link to={`/images/${name}`}>all versions of {name}</Link>.
      </p>
    </div>
  );
}

/** How long its two boots took, as far as that was measured: the proof, and the template. */
function partsOf({ smokeMs, templateMs }: ImageVersionView): string {
  const proof = smokeMs === null ? '' : `: smoke gate ${duration(smokeMs)}`;
  return `${proof}${templateMs === null ? '' : `, template ${duration(templateMs)}`}`;
}

/** No session gets a version before it is frozen. */
function FreezeNext({ view }: { readonly view: ImageVersionView }) {
  const { name } = view;
  const navigate = useNavigate();
  const work = useImageWork(name);
  return (
    <>
      <p>Next: freeze it. No session gets it before it was proven.</p>
      {work.error !== null && <ProblemNotice error={work.error} />}
      <div className="actions">
        <FreezeButton
          view={view}
          asks={{
            isBusy: work.isPending,
            ask: (wanted) =>
              work.mutate(wanted, {
                onSuccess: ({ operationId }) => void navigate(`/images/${name}/operations/${operationId}`),
              }),
          }}
        />
      </div>
    </>
  );
}
