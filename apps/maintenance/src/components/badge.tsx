import type { Tone } from './tone';
import { words } from '../text/phrases';

/** A state as a word with its tone. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className="badge" data-tone={tone}>
      {words(children)}
    </span>
  );
}
