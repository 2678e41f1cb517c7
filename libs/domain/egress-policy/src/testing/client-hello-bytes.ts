/** What differs between the hellos of a test. */
export interface ClientHelloParts {
  /** Content of the server_name extension: one entry per name. Null leaves the extension out. */
  readonly serverNames: readonly string[] | null;
  /** Type of the entries; 0 is host_name. */
  readonly nameType?: number;
  /** Writes the extension twice. */
  readonly isRepeated?: boolean;
  /** Filler in an extension that nobody knows. */
  readonly paddingBytes?: number;
  /** Longest fragment of the message in one record. */
  readonly recordBytes?: number;
  /** Bytes behind the extensions. */
  readonly trailer?: Uint8Array;
}

/** A TLS ClientHello in its records, as RFC 8446 and RFC 6066 lay it out. */
export function clientHelloBytes(parts: ClientHelloParts): Buffer {
  const { serverNames, nameType = 0, isRepeated = false, paddingBytes = 0, recordBytes = 2 ** 14 } = parts;
  const names = (serverNames ?? []).map((name) => Buffer.concat([number(nameType, 1), vector(Buffer.from(name), 2)]));
  const serverName = extension(0, vector(Buffer.concat(names), 2));
  const padding = extension(21, Buffer.alloc(paddingBytes));
  const extensions = [padding, ...(serverNames === null ? [] : isRepeated ? [serverName, serverName] : [serverName])];
  const body = Buffer.concat([
    number(0x0303, 2),
    Buffer.alloc(32, 7),
    vector(Buffer.alloc(32, 9), 1),
    vector(number(0x1301, 2), 2),
    vector(Buffer.from([0]), 1),
    vector(Buffer.concat(extensions), 2),
    parts.trailer ?? Buffer.alloc(0),
  ]);
  return inRecords(Buffer.concat([number(1, 1), vector(body, 3)]), recordBytes);
}

function inRecords(message: Buffer, recordBytes: number): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes) {
    records.push(number(22, 1), number(0x0301, 2), vector(message.subarray(at, at + recordBytes), 2));
  }
  return Buffer.concat(records);
}

const extension = (type: number, content: Buffer): Buffer => Buffer.concat([number(type, 2), vector(content, 2)]);

const vector = (content: Buffer, lengthSize: number): Buffer =>
  Buffer.concat([number(content.length, lengthSize), content]);

function number(value: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}
