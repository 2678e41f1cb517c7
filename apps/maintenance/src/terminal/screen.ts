import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { keepToPolicy } from './policy-abiding-document';

const FONT_SIZE_PX = 13;
const SCROLLBACK_LINES = 5_000;
/** Output that the screen has not drawn yet, at most: what is more is left out, so that a flood never fills the memory. */
const MAX_UNDRAWN_BYTES = 4 * 1024 * 1024;

/** What a screen tells its page. */
export interface ScreenEvents {
  readonly typed: (keys: Uint8Array<ArrayBuffer>) => void;
  /** The person wants to leave it, by keyboard. */
  readonly left: () => void;
}

/** The terminal as it is drawn. */
export class Screen {
  private readonly stopKeeping = keepToPolicy();
  private readonly terminal: Terminal;
  private readonly fitting = new FitAddon();
  private undrawnBytes = 0;
  private leftOutBytes = 0;

  constructor(
    private readonly box: HTMLElement,
    describedBy: string,
    events: ScreenEvents,
  ) {
    const styles = getComputedStyle(box);
    this.terminal = new Terminal({
      fontFamily: styles.getPropertyValue('--mono'),
      fontSize: FONT_SIZE_PX,
      scrollback: SCROLLBACK_LINES,
      cursorBlink: false,
      screenReaderMode: true,
      theme: {
        background: styles.getPropertyValue('--console-bg').trim(),
        foreground: styles.getPropertyValue('--console-text').trim(),
      },
    });
    this.terminal.loadAddon(this.fitting);
    this.terminal.open(box);
    this.terminal.textarea?.setAttribute('aria-describedby', describedBy);
    const encoder = new TextEncoder();
    this.terminal.onData((keys) => events.typed(encoder.encode(keys)));
    this.terminal.onBinary((keys) => events.typed(Uint8Array.from(keys, (key) => key.charCodeAt(0))));
    this.terminal.attachCustomKeyEventHandler((event) => {
      if (!isWayOut(event)) return true;
      event.preventDefault();
      if (event.type === 'keydown') events.left();
      return false;
    });
  }

  /** The largest size that its box has room for. */
  get fittingSize(): { readonly cols: number; readonly rows: number } | null {
    const size = this.fitting.proposeDimensions();
    return size && size.cols > 0 && size.rows > 0 ? size : null;
  }

  resize(cols: number, rows: number): void {
    this.terminal.resize(cols, rows);
  }

  show(bytes: Uint8Array): void {
    if (this.undrawnBytes + bytes.length > MAX_UNDRAWN_BYTES) {
      this.leftOutBytes += bytes.length;
      return;
    }
    if (this.leftOutBytes > 0) {
      const leftOut = this.leftOutBytes;
      this.leftOutBytes = 0;
      this.note(`${leftOut} bytes came too fast and were left out`);
    }
    this.undrawnBytes += bytes.length;
    this.terminal.write(bytes, () => (this.undrawnBytes -= bytes.length));
  }

  /** A line of the page's own among the output. */
  note(text: string): void {
    this.terminal.write(`\r\n\x1b[7m ${text} \x1b[0m\r\n`);
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Nothing is typed any more; it can still be read and copied from. */
  freeze(): void {
    this.terminal.options.disableStdin = true;
  }

  /** Calls `act` whenever the box has another size. Returns what ends that. */
  whenBoxChanges(act: () => void): () => void {
    const observer = new ResizeObserver(act);
    observer.observe(this.box);
    return () => observer.disconnect();
  }

  dispose(): void {
    this.terminal.dispose();
    this.stopKeeping();
  }
}

/** Of all keys the one that does not go to the machine. */
export const WAY_OUT = 'Ctrl + F6';

const isWayOut = ({ key, ctrlKey, altKey, shiftKey, metaKey }: KeyboardEvent): boolean =>
  key === 'F6' && ctrlKey && !altKey && !shiftKey && !metaKey;
