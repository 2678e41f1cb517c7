import type { ReactNode } from 'react';
import type { ImageVersionView } from '@inquest/contracts-image';
import type { ImageWork, VersionEnding } from '../api/images';
import { AskDialog } from '../components/ask-dialog';
import { UnfreezeDialog } from './unfreeze-dialog';

/** What a page does when something is asked of a version. */
export interface VersionAsks {
  readonly ask: (work: ImageWork) => void;
  readonly end: (ending: { readonly ending: VersionEnding; readonly version: number }) => void;
  readonly isBusy: boolean;
}

interface VersionActionsProps {
  readonly version: ImageVersionView;
  /** The image has an open working copy: there can be only one. */
  readonly isUnfrozen: boolean;
  readonly asks: VersionAsks;
}

/** What can be done to a version in its state. */
export function VersionActions({ version: view, isUnfrozen, asks }: VersionActionsProps) {
  const { state, isRemoved } = view;
  if (isRemoved || state === 'building') return null;
  return (
    <div className="actions">
      {(state === 'built' || state === 'smoke_ok' || state === 'unfrozen') && <FreezeButton view={view} asks={asks} />}
      {state === 'frozen' && <Verify view={view} asks={asks} />}
      {state === 'frozen' && !isUnfrozen && <UnfreezeDialog version={view} asks={asks} />}
      {state === 'frozen' ? <Retire view={view} asks={asks} /> : <Remove view={view} asks={asks} />}
    </div>
  );
}

interface ActionProps {
  readonly view: ImageVersionView;
  readonly asks: VersionAsks;
}

interface FreezeButtonProps {
  readonly view: ImageVersionView;
  readonly asks: Pick<VersionAsks, 'ask' | 'isBusy'>;
}

/** Asks before a version is proven and frozen, and says what that is. */
export function FreezeButton({ view: { name, version, state }, asks: { ask, isBusy } }: FreezeButtonProps): ReactNode {
  return (
    <AskDialog
      trigger="Freeze …"
      title={`Freeze ${name}:${version}?`}
      confirm="Freeze it"
      isPrimary
      isBusy={isBusy}
      onConfirm={() => ask({ kind: 'freeze', version })}
    >
      <p>It will be proven and then closed for good:</p>
      <ol>
        <li>booted once, the way a session boots it</li>
        <li>asked every check of its recipe, and to power off cleanly</li>
        <li>given a digest and made read-only</li>
      </ol>
      <p>
        {state === 'unfrozen'
          ? 'Then sessions get it. If a check fails, the working copy stays open, so that it can be mended.'
          : 'If a check fails it is kept as failed, with its log, and no session ever gets it.'}
      </p>
    </AskDialog>
  );
}

function Verify({ view: { name, version }, asks: { ask, isBusy } }: ActionProps): ReactNode {
  return (
    <AskDialog
      trigger="Verify …"
      title={`Verify ${name}:${version}?`}
      confirm="Verify it"
      isBusy={isBusy}
      onConfirm={() => ask({ kind: 'verify', version })}
    >
      <p>Every byte of its files is read again and compared with what was recorded when it was frozen.</p>
    </AskDialog>
  );
}

function Retire({ view: { name, version }, asks: { end, isBusy } }: ActionProps): ReactNode {
  return (
    <AskDialog
      trigger="Retire …"
      title={`Retire ${name}:${version}?`}
      confirm="Retire it"
      isDanger
      isBusy={isBusy}
      onConfirm={() => end({ ending: 'retire', version })}
    >
      <p>
        No machine starts on it any more, and its templates are removed. It is refused while a machine or another
        version stands on it.
      </p>
    </AskDialog>
  );
}

function Remove({ view: { name, version, state }, asks: { end, isBusy } }: ActionProps): ReactNode {
  const isCopy = state === 'unfrozen';
  return (
    <AskDialog
      trigger={isCopy ? 'Discard …' : 'Remove …'}
      title={isCopy ? `Discard the working copy ${name}:${version}?` : `Remove the files of ${name}:${version}?`}
      confirm={isCopy ? 'Discard it' : 'Remove them'}
      isDanger
      isBusy={isBusy}
      onConfirm={() => end({ ending: 'remove', version })}
    >
      <p>Its files are deleted. The record of what it was stays, and its number is never used again.</p>
    </AskDialog>
  );
}
