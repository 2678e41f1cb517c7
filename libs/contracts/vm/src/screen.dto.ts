import { IsIn } from 'class-validator';
import { IsId, IsNested, IsText, IsWhole, Nullable, StreamTicket } from '@inquest/contracts-base';
import { IncarnationRequest } from './machine.dto';

/** What a person reads off a picture of the screen: pixels from its upper left corner. No screen is larger than this. */
export const SCREEN_MAX_PIXELS = 16_383;
/** A picture is PNG; a screen of 4096 x 4096 pixels in 32 bits has no more bytes than this, compressed or not. */
export const SCREENSHOT_MAX_BYTES = 4096 * 4096 * 4;
/** What is typed at once; the keyboard takes about 25 characters a second. */
export const TYPED_TEXT_MAX_CHARS = 1024;

export const POINTER_BUTTONS = ['left', 'middle', 'right'] as const;
export type PointerButton = (typeof POINTER_BUTTONS)[number];
export const SCROLL_DIRECTIONS = ['up', 'down'] as const;
export type ScrollDirection = (typeof SCROLL_DIRECTIONS)[number];

/** A picture of a screen as it was when it was asked for. */
export class ScreenshotView {
  @IsId() readonly machineId!: string;
  @IsWhole(1, SCREEN_MAX_PIXELS) readonly width!: number;
  @IsWhole(1, SCREEN_MAX_PIXELS) readonly height!: number;
  @IsWhole(1, SCREENSHOT_MAX_BYTES) readonly sizeBytes!: number;
  /** Where the PNG waits for its one reader. */
  @IsNested(() => StreamTicket) readonly picture!: StreamTicket;
}

/** Input for a machine's screen; `by` is who asked, for its evidence. */
export class InputRequest extends IncarnationRequest {
  @IsText(64) readonly by: string = 'caller';
}

/** A click on a pixel of the screen as a picture of it shows it. */
export class ClickRequest extends InputRequest {
  @IsWhole(0, SCREEN_MAX_PIXELS) readonly x!: number;
  @IsWhole(0, SCREEN_MAX_PIXELS) readonly y!: number;
  @IsIn(POINTER_BUTTONS) readonly button: PointerButton = 'left';
  /** 2 is a double click. */
  @IsWhole(1, 3) readonly times: number = 1;
}

/** A text as typed on a US keyboard; a line end is the Enter key. */
export class TypeTextRequest extends InputRequest {
  @IsText(TYPED_TEXT_MAX_CHARS, 1) readonly text!: string;
}

/** Keys that are held down together and let go again. */
export class PressKeysRequest extends InputRequest {
  /** Characters and names of keys with `+` between them, such as `ctrl+alt+delete` or `enter`. */
  @IsText(64, 1) readonly keys!: string;
}

/** Steps of the wheel, where the pointer is or on a pixel of the screen. */
export class ScrollRequest extends InputRequest {
  @IsIn(SCROLL_DIRECTIONS) readonly direction!: ScrollDirection;
  @IsWhole(1, 50) readonly steps: number = 3;
  /** Together with `y`: where the pointer goes first. */
  @Nullable() @IsWhole(0, SCREEN_MAX_PIXELS) readonly x: number | null = null;
  @Nullable() @IsWhole(0, SCREEN_MAX_PIXELS) readonly y: number | null = null;
}

/** That a machine was sent input; what its guest makes of it is for a picture to show. */
export class InputView {
  @IsId() readonly machineId!: string;
  /** Movements, presses and releases that were sent. */
  @IsWhole(0, 100_000) readonly inputs!: number;
}
