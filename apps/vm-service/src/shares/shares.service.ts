import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { MAX_SHARES, vmError, type ShareWish } from '@inquest/contracts-vm';
import type { DomainError } from '@inquest/kernel';
import { supportsShares, VM_DRIVER, type VmDriver } from '@inquest/vm-driver';
import { VmServiceConfig } from '../vm-service.config';
import type { MachineShare } from './machine-share';
import { findOutsideLinks } from './outside-links';
import { readUserHomes, whyPrivate } from './private-directories';

/** Where a mount would take the guest its own kernel's file systems, or everything. */
const GUEST_TREES_OF_THE_KERNEL = ['/dev', '/proc', '/sys'];

/** Decides which directories of this host machines may be given. */
@Injectable()
export class SharesService {
  constructor(
    @Inject(VM_DRIVER) private readonly driver: VmDriver,
    private readonly config: VmServiceConfig,
  ) {}

  /**
   * The shares that a machine will have: those it has, and `wishes`. Throws `SHARE_REFUSED`, naming the directory and why,
   * and `MACHINE_CAPABILITY_MISSING` when the driver has no shares.
   */
  async accept(wishes: readonly ShareWish[], present: readonly MachineShare[] = []): Promise<MachineShare[]> {
    const shares = [...present];
    for (const wish of wishes) {
      if (shares.length === MAX_SHARES) throw refused(wish.directory, `a machine has at most ${MAX_SHARES} shares`);
      const guestPath = acceptGuestPath(wish, shares);
      const directory = await this.acceptDirectory(wish.directory);
      shares.push({ tag: freeTag(shares), directory, guestPath, ...(await findOutsideLinks(directory)) });
    }
    return shares;
  }

  /** Whether the directories of a machine are still fit to be seen. Throws as `accept` does. */
  async recheck(shares: readonly MachineShare[]): Promise<void> {
    for (const { directory } of shares) {
      const found = await this.acceptDirectory(directory);
      if (found !== directory) throw refused(directory, `it has become a link to ${found}`);
    }
  }

  private async acceptDirectory(wished: string): Promise<string> {
    if (!supportsShares(this.driver)) {
      throw vmError('MACHINE_CAPABILITY_MISSING', `the ${this.driver.name} driver gives machines no directories`);
    }
    const directory = await realpath(wished).catch((e: unknown) => {
      throw refused(wished, (e as Error).message, e);
    });
    const status = await stat(directory);
    if (!status.isDirectory()) throw refused(wished, 'it is no directory');
    const platformHome = await realpath(this.config.home);
    const why = whyPrivate({ directory, mode: status.mode, platformHome, userHomes: await readUserHomes() });
    if (why !== null) throw refused(wished, `it ${why}`);
    await this.driver.checkShare(directory).catch((e: unknown) => {
      throw refused(wished, (e as Error).message, e);
    });
    return directory;
  }
}

function acceptGuestPath({ directory, guestPath }: ShareWish, taken: readonly MachineShare[]): string {
  const target = path.posix.normalize(guestPath).replace(/\/+$/, '');
  const tree = GUEST_TREES_OF_THE_KERNEL.find(
    (candidate) => target === candidate || target.startsWith(`${candidate}/`),
  );
  if (target === '' || tree !== undefined) throw refused(directory, `the guest needs its own ${tree ?? '/'}`);
  const other = taken.find((share) => share.guestPath === target);
  if (other !== undefined) throw refused(directory, `${other.directory} is at ${target} of the guest already`);
  return target;
}

/** The guest mounts by it; a share that was taken away leaves its tag to the next one. */
const freeTag = (shares: readonly MachineShare[]): string =>
  Array.from({ length: MAX_SHARES }, (_, at) => `share${at}`).find((tag) =>
    shares.every((share) => share.tag !== tag),
  ) ?? 'share';

const refused = (directory: string, why: string, cause?: unknown): DomainError =>
  vmError('SHARE_REFUSED', `${directory} is not shared: ${why}`, { directory }, cause);
