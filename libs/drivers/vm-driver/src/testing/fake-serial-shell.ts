import type { SerialResult } from '../serial-shell';

/** What a shell answers on its command line; of commands it knows `echo` and `exit`, and an `echo` before an `exit`. */
export function playSerialShell(command: string): Promise<SerialResult> {
  const [, text, status] = /^(?:echo ([^;]*))?(?:; )?(?:exit (\d+))?$/.exec(command) ?? [];
  const isKnown = text !== undefined || status !== undefined;
  const output = isKnown ? (text === undefined ? '' : `${text}\n`) : `sh: ${command}: not found\n`;
  return Promise.resolve(serialResult(isKnown ? Number(status ?? 0) : 127, output));
}

/** The end of a command whose whole output was kept. */
export function serialResult(exitCode: number, output: string): SerialResult {
  const head = Buffer.from(output);
  return { exitCode, output: { head, tail: new Uint8Array(), totalBytes: head.length, isTruncated: false } };
}
