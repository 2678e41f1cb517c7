/** Puts a colour around a text that is already printable. */
export type Paint = (text: string) => string;

export interface Palette {
  readonly dim: Paint;
  readonly bold: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly red: Paint;
  readonly cyan: Paint;
}

// Select Graphic Rendition parameters (ECMA-48, 8.3.117).
const sgr =
  (on: number, off: number): Paint =>
  (text) =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`;

const FOREGROUND_OFF = 39;
const INTENSITY_OFF = 22;

const COLORED: Palette = {
  dim: sgr(2, INTENSITY_OFF),
  bold: sgr(1, INTENSITY_OFF),
  green: sgr(32, FOREGROUND_OFF),
  yellow: sgr(33, FOREGROUND_OFF),
  red: sgr(31, FOREGROUND_OFF),
  cyan: sgr(36, FOREGROUND_OFF),
};

const same: Paint = (text) => text;
const PLAIN: Palette = { dim: same, bold: same, green: same, yellow: same, red: same, cyan: same };

export const paletteFor = (color: boolean): Palette => (color ? COLORED : PLAIN);
