import { egressError } from './errors';

/** The head of a request may be this long, in bytes: request line, headers and the empty line. */
export const CONNECT_HEAD_MAX_BYTES = 8 * 1024;

/** RFC 9112, 3: method, target and version. A target has no blanks, and here nothing beyond ASCII. */
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e]{1,2048}) HTTP\/1\.[01]$/;
/** Begins every method; whatever else comes first is no HTTP. */
const FIRST_CHARACTER = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

const LF = 0x0a;
const CR = 0x0d;

/** A CONNECT request. Its headers were bounded and skipped: they are for proxies that do more than this one. */
export interface ConnectHead {
  /** The target as sent. */
  readonly authority: string;
  /** What came behind the head: the first bytes of the tunnel. */
  readonly rest: Uint8Array;
}

/** Reads the head of one request from pieces of any size, in memory of `CONNECT_HEAD_MAX_BYTES`. */
export class ConnectHeadReader {
  private readonly head = new Uint8Array(CONNECT_HEAD_MAX_BYTES);
  private length = 0;
  /** Bytes of the present line, without its end. */
  private lineLength = 0;

  /** True until the first byte. */
  get isEmpty(): boolean {
    return this.length === 0;
  }

  /**
   * The head once it is whole, else null. Throws `EGRESS_METHOD_REFUSED`, `EGRESS_REQUEST_INVALID` or
   * `EGRESS_REQUEST_OVERSIZED`; after that, and after the head, the reader is of no more use.
   */
  push(chunk: Uint8Array): ConnectHead | null {
    for (const [at, byte] of chunk.entries()) {
      if (this.length === CONNECT_HEAD_MAX_BYTES) throw oversized();
      this.head[this.length++] = byte;
      if (this.length === 1) checkFirst(byte);
      if (byte === LF && this.lineLength === 0) return { authority: this.authority(), rest: chunk.slice(at + 1) };
      if (byte === LF) this.lineLength = 0;
      // The empty line is an LF, or a CR and an LF; any other CR is part of its line.
      else if (byte !== CR) this.lineLength++;
    }
    return null;
  }

  private authority(): string {
    const text = new TextDecoder('latin1').decode(this.head.subarray(0, this.length));
    const line = text.slice(0, text.indexOf('\n')).replace(/\r$/, '');
    const [, method, target] = REQUEST_LINE.exec(line) ?? [];
    if (method === undefined || target === undefined) throw invalid();
    if (method !== 'CONNECT') {
      throw egressError('EGRESS_METHOD_REFUSED', `the egress proxy takes CONNECT only, not ${method}`);
    }
    return target;
  }
}

function checkFirst(byte: number): void {
  if (!FIRST_CHARACTER.test(String.fromCharCode(byte))) throw invalid();
}

const invalid = () =>
  egressError('EGRESS_REQUEST_INVALID', 'the egress proxy was sent something else than an HTTP/1.x request');

const oversized = () =>
  egressError('EGRESS_REQUEST_OVERSIZED', `the head of the request is larger than ${CONNECT_HEAD_MAX_BYTES} bytes`);
