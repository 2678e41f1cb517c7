/** What the kernel prints last when it stops for good (kernel/reboot.c), behind its time and perhaps its caller. */
const LAST_WORDS =
  /^\[ *\d+\.\d{6}\](?:\[ *[TC]\d+\])? reboot: (?:Power down|System halted|Power off not available: System halted instead)$/;
/** No line that matters is longer. */
const LINE_MAX_CHARS = 128;

/**
 * Listens to a console for the words after which a kernel does nothing any more. Hostile text: whoever may write to the
 * console may say them too.
 */
export class LastWords {
  private line = '';
  private areHeard = false;

  /** True once such a line was heard. */
  get wereHeard(): boolean {
    return this.areHeard;
  }

  /** True when these bytes complete a line that says so. Lines may be split over any number of calls. */
  hear(chunk: Uint8Array): boolean {
    const [first = '', ...others] = Buffer.from(chunk).toString('latin1').split('\n');
    const lines = [this.line + first.slice(0, LINE_MAX_CHARS), ...others];
    this.line = (lines.pop() ?? '').slice(0, LINE_MAX_CHARS);
    const isHeard = lines.some((line) => LAST_WORDS.test(line.replace(/\r$/, '')));
    this.areHeard ||= isHeard;
    return isHeard;
  }
}
