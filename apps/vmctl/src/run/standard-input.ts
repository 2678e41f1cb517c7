import { fstat } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { promisify } from 'node:util';

/** A stream that may be this process's standard input: then it has a file descriptor. */
type InputStream = Readable & { readonly fd?: number };

/**
 * Whether a guest's command is to read our standard input: always or never when `wanted` says so; by itself when there
 * is something to read, a pipe or a file. A terminal is not passed on, for the guest has no terminal to show it to.
 */
export async function isInputWanted(stdin: InputStream, wanted: boolean | undefined): Promise<boolean> {
  if (wanted !== undefined) return wanted;
  if (stdin.fd === undefined) return false;
  // A closed standard input has no status, and nothing to read.
  const status = await promisify(fstat)(stdin.fd).catch(() => null);
  return status !== null && (status.isFIFO() || status.isFile() || status.isSocket());
}

/** The body of a request to `exec-pipe`: the request on one line, then the input for as long as it goes on. */
export function withInput(request: object, stdin: Readable): Readable {
  const body = new PassThrough();
  body.write(`${JSON.stringify(request)}\n`);
  stdin.once('error', (e) => body.destroy(e));
  return stdin.pipe(body);
}
