import type { ShareView } from '@inquest/contracts-vm';
import { printableLine } from '@inquest/transcript';

const SHOWN_LINKS = 5;

/** For each share with links that lead out of it, a line that says that its guest cannot follow them. */
export const linkNotes = (shares: readonly ShareView[]): string[] =>
  shares
    .filter(({ outsideLinks, isFullyLookedAt }) => outsideLinks > 0 || !isFullyLookedAt)
    .map(({ directory, outsideLinks, namedLinks, isFullyLookedAt }) => {
      const shown = namedLinks.slice(0, SHOWN_LINKS).map(printableLine).join(', ');
      const more = outsideLinks > SHOWN_LINKS ? `, and ${outsideLinks - SHOWN_LINKS} more` : '';
      const found = outsideLinks === 0 ? 'none was found' : `${shown}${more}`;
      const doubt = isFullyLookedAt ? '' : ' (not all of the directory could be looked at)';
      return `  ${printableLine(directory)}: links that lead out of it, which the guest cannot follow: ${found}${doubt}`;
    });
