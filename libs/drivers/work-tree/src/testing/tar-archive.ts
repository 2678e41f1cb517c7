import { Readable } from 'node:stream';
import { extract, pack, type Header } from 'tar-stream';

export type TarEntry = Partial<Header> & { readonly name: string; readonly content?: string | Buffer };

/** An archive of these entries, in this order; also of entries that no honest archiver would write. */
export function tarOf(entries: readonly TarEntry[]): Readable {
  const archive = pack();
  for (const { content = '', ...header } of entries) {
    if (header.type === undefined || header.type === 'file') archive.entry(header, content);
    else archive.entry(header);
  }
  archive.finalize();
  return Readable.from(archive as AsyncIterable<Buffer>);
}

/** The entries of an archive, by name. */
export async function readTar(archive: Readable): Promise<Map<string, Header & { content: Buffer }>> {
  const found = new Map<string, Header & { content: Buffer }>();
  const reader = extract();
  archive.on('error', (e) => reader.destroy(e)).pipe(reader);
  for await (const entry of reader) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry as AsyncIterable<Uint8Array>) chunks.push(chunk);
    found.set(entry.header.name, { ...entry.header, content: Buffer.concat(chunks) });
  }
  return found;
}
