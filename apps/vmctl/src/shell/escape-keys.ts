/** What a person tells vmctl itself while every key goes to the guest. */
export type EscapeAction = 'leave' | 'end' | 'help';

const TILDE = 0x7e;
const LINE_ENDS: readonly number[] = [0x0d, 0x0a];
const ACTIONS: Readonly<Record<string, EscapeAction>> = { '.': 'leave', k: 'end', '?': 'help' };

/** Shown for `~?`. */
export const ESCAPE_HELP = [
  'At the beginning of a line:',
  '  ~.  leave; the command goes on, and `vmctl shell --attach <terminal> <machine>` comes back',
  '  ~k  end the command, and everything that it started',
  '  ~?  this list',
  '  ~~  one ~',
];

/** Keys as typed, without those that are for vmctl: a tilde at the beginning of a line and the key behind it, as in ssh. */
export class EscapeKeys {
  private isLineStart = true;
  private isTildeHeld = false;

  /** What goes to the guest, and what is asked of vmctl; after an action that ends the viewing, nothing follows. */
  take(keys: Uint8Array): { readonly forGuest: Buffer; readonly actions: readonly EscapeAction[] } {
    const forGuest: number[] = [];
    const actions: EscapeAction[] = [];
    for (const key of keys) {
      const action = this.isTildeHeld ? ACTIONS[String.fromCharCode(key)] : undefined;
      if (action !== undefined) {
        this.isTildeHeld = false;
        actions.push(action);
        if (action !== 'help') break;
      } else if (this.isLineStart && !this.isTildeHeld && key === TILDE) {
        this.isTildeHeld = true;
      } else {
        // A tilde that was held was one for the guest, unless it stands for itself.
        if (this.isTildeHeld && key !== TILDE) forGuest.push(TILDE);
        this.isTildeHeld = false;
        forGuest.push(key);
        this.isLineStart = LINE_ENDS.includes(key);
      }
    }
    return { forGuest: Buffer.from(forGuest), actions };
  }
}
