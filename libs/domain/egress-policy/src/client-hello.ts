import { ByteCursor } from './byte-cursor';
import { egressError } from './errors';
import { parseHostName } from './host-name';

/** Longest ClientHello that is read, in bytes. Real ones with post-quantum keys have about 2 KiB. */
export const CLIENT_HELLO_MAX_BYTES = 16 * 1024;

/** Content type of a handshake record (RFC 8446, 5.1): the first byte of every TLS connection. */
export const HANDSHAKE_RECORD = 22;

/** RFC 8446, 5.1: content type, version, length. */
const RECORD_HEADER_BYTES = 5;
const RECORD_VERSION_MAJOR = 3;
/** RFC 8446, 5.1: plaintext of one record. */
const RECORD_MAX_BYTES = 2 ** 14;

/** RFC 8446, 4: message type and a 24-bit length. */
const MESSAGE_HEADER_BYTES = 4;
const CLIENT_HELLO_MESSAGE = 1;

/** RFC 8446, 4.1.2. */
const RANDOM_BYTES = 32;

/** RFC 6066, 3. */
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME_TYPE = 0;

/** What the policy needs of a ClientHello. With Encrypted Client Hello this is the outer one, which the proxy's rule is about. */
export interface ClientHello {
  /** In lower case; null when the client names no server. */
  readonly serverName: string | null;
}

/** Reads the first message of a TLS connection from pieces of any size, in memory of `CLIENT_HELLO_MAX_BYTES`. */
export class ClientHelloReader {
  private readonly header = new Uint8Array(RECORD_HEADER_BYTES);
  private headerLength = 0;
  /** Bytes of the present record that are still to come. */
  private recordLeft = 0;
  private readonly message = new Uint8Array(MESSAGE_HEADER_BYTES + CLIENT_HELLO_MAX_BYTES);
  private messageLength = 0;

  /**
   * The ClientHello once it is whole, else null. Throws `EGRESS_HELLO_INVALID`; after that, and after the hello, the
   * reader is of no more use. Bytes behind the hello are not looked at.
   */
  push(chunk: Uint8Array): ClientHello | null {
    for (let at = 0; at < chunk.length;) {
      if (this.recordLeft === 0) {
        this.pushHeader(chunk[at++] as number);
        continue;
      }
      const fragment = chunk.subarray(at, at + this.recordLeft);
      at += fragment.length;
      this.recordLeft -= fragment.length;
      const hello = this.pushFragment(fragment);
      if (hello !== null) return hello;
    }
    return null;
  }

  private pushHeader(byte: number): void {
    this.header[this.headerLength++] = byte;
    if (this.headerLength === 1 && byte !== HANDSHAKE_RECORD) throw invalid('they are not TLS');
    if (this.headerLength < RECORD_HEADER_BYTES) return;
    const record = new ByteCursor(this.header);
    record.number(1);
    if (record.number(1) !== RECORD_VERSION_MAJOR) throw invalid('the record has an unknown version');
    record.number(1);
    this.recordLeft = record.number(2);
    if (this.recordLeft === 0 || this.recordLeft > RECORD_MAX_BYTES) throw invalid('the record has no valid length');
    this.headerLength = 0;
  }

  private pushFragment(fragment: Uint8Array): ClientHello | null {
    const room = this.message.subarray(this.messageLength);
    // More than one message can hold is judged by its declared length, not by what else the record has.
    room.set(fragment.subarray(0, room.length));
    this.messageLength += Math.min(fragment.length, room.length);
    if (this.messageLength < MESSAGE_HEADER_BYTES) return null;
    const message = new ByteCursor(this.message.subarray(0, this.messageLength));
    if (message.number(1) !== CLIENT_HELLO_MESSAGE) throw invalid('the first message is no ClientHello');
    const length = message.number(3);
    if (length > CLIENT_HELLO_MAX_BYTES) throw invalid(`it has more than ${CLIENT_HELLO_MAX_BYTES} bytes`);
    return this.messageLength < MESSAGE_HEADER_BYTES + length ? null : parseClientHello(message.take(length));
  }
}

function parseClientHello(body: Uint8Array): ClientHello {
  try {
    const hello = new ByteCursor(body);
    hello.number(2);
    hello.take(RANDOM_BYTES);
    hello.vector(1); // session id
    hello.vector(2); // cipher suites
    hello.vector(1); // compression methods
    // Before TLS 1.3 a client may end here.
    const serverName = hello.isAtEnd ? null : serverNameIn(new ByteCursor(hello.vector(2)));
    if (!hello.isAtEnd) throw invalid('it has bytes behind its extensions');
    return { serverName };
  } catch (e) {
    if (e instanceof RangeError) throw invalid('a length in it is wrong');
    throw e;
  }
}

function serverNameIn(extensions: ByteCursor): string | null {
  let serverName: string | null = null;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type !== SERVER_NAME_EXTENSION) continue;
    // Which of two a server takes is its choice, so there may be only one (RFC 8446, 4.2).
    if (serverName !== null) throw invalid('it names two servers');
    serverName = parseServerName(new ByteCursor(content));
  }
  return serverName;
}

/** RFC 6066, 3: a list, in which only host names were ever defined, one of each type. */
function parseServerName(extension: ByteCursor): string {
  const list = new ByteCursor(extension.vector(2));
  const type = list.number(1);
  const name = parseHostName(new TextDecoder('latin1').decode(list.vector(2)));
  if (type !== HOST_NAME_TYPE || name === null || !list.isAtEnd || !extension.isAtEnd) {
    throw invalid('its server name is not one host name');
  }
  return name;
}

const invalid = (why: string) =>
  egressError('EGRESS_HELLO_INVALID', `the first bytes in the tunnel are no TLS ClientHello: ${why}`);
