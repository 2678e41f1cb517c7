import type { TerminalView } from './terminal.dto';

/**
 * A text message of a viewer; binary ones are what is typed. `end-input` types the end-of-file key; `resize` and typing
 * are for the viewer in control.
 */
export type ViewerMessage =
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'take-control' }
  | { readonly type: 'release-control' }
  | { readonly type: 'end-input' };

/** A text message to a viewer; binary ones are output. */
export type TerminalMessage =
  | AttachedMessage
  /** The viewer in control changed, or viewers came or went. */
  | { readonly type: 'viewers'; readonly count: number; readonly isController: boolean; readonly isControlled: boolean }
  | { readonly type: 'resized'; readonly cols: number; readonly rows: number }
  /** Output that this viewer was too slow for. */
  | { readonly type: 'skipped'; readonly bytes: number }
  /** What the viewer sent was not done. */
  | { readonly type: 'refused'; readonly code: string; readonly message: string }
  /** The last one: nothing comes after it. */
  | { readonly type: 'ended'; readonly terminal: TerminalView };

/** The first message. The next `replayBytes` bytes were shown before: what answers to a terminal's questions must not answer to them. */
export interface AttachedMessage {
  readonly type: 'attached';
  readonly terminal: TerminalView;
  readonly isController: boolean;
  readonly replayBytes: number;
  /** Of the output behind the replay; whoever counts on from there can attach again without a gap. */
  readonly offset: number;
}
