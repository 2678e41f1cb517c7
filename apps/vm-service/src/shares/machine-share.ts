import type { ShareView } from '@inquest/contracts-vm';

/** A directory that a machine was given, as its row keeps it. */
export interface MachineShare extends Omit<ShareView, 'isAttached'> {
  /** By which the guest mounts it. */
  readonly tag: string;
}

/** As its readers see it. `attached` are the shares of the running incarnation. */
export const shareViews = (shares: readonly MachineShare[], attached: readonly MachineShare[]): ShareView[] =>
  shares.map(({ tag, ...share }) => ({
    ...share,
    isAttached: attached.some((other) => other.tag === tag && other.directory === share.directory),
  }));
