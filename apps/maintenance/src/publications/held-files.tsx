import { printableLine } from '@inquest/transcript';
import { count } from '../text/phrases';

interface HeldFilesProps {
  readonly held: readonly { readonly path: string; readonly rule: string; readonly why: string }[];
  /** All of them; the list may be cut. */
  readonly heldCount: number;
}

/** Files that were left out of a commit, each with the rule that held it. */
export function HeldFiles({ held, heldCount }: HeldFilesProps) {
  if (heldCount === 0) return <p className="absent">No file was held back.</p>;
  return (
    <details className="held" open={held.length <= 5}>
      <summary>{count(heldCount, 'file')} held back</summary>
      <ul>
        {held.map(({ path, rule, why }) => (
          <li key={path}>
            <code className="wrap">{printableLine(path)}</code>
            <span>
              {printableLine(why)} (rule {rule})
            </span>
          </li>
        ))}
      </ul>
      {heldCount > held.length && <p>… and {heldCount - held.length} more.</p>}
    </details>
  );
}
