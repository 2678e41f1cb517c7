import { Readable } from 'node:stream';
import { extract, pack, type Header } from 'tar-stream';

/** An entry of a tar archive; also one that no honest archiver would write. */
export type TarEntry = Partial<Header> & { readonly name: string; readonly content?: string | Buffer };

/** The files of a guest that exists only in memory, by absolute path. */
export class GuestFiles {
  private readonly entries = new Map<string, TarEntry>();
  /** Written behind the honest entries of each archive, as they are. */
  readonly hostile: TarEntry[] = [];

  write(path: string, content: string | Buffer, mode = 0o644): void {
    this.entries.set(path, { name: path, content, mode });
  }

  link(path: string, target: string): void {
    this.entries.set(path, { name: path, type: 'symlink', linkname: target });
  }

  remove(path: string): void {
    this.entries.delete(path);
  }

  /** The content of a file; null when there is none. */
  read(path: string): Buffer | null {
    const content = this.entries.get(path)?.content;
    return content === undefined ? null : Buffer.from(content);
  }

  /** Every path below a directory, sorted. */
  under(directory: string): string[] {
    return [...this.entries.keys()].filter((path) => path.startsWith(`${directory}/`)).sort();
  }

  /** A directory as a tar archive, names relative to it. */
  archive(directory: string): Readable {
    const archive = pack();
    const honest = this.under(directory).map((path) => ({
      ...(this.entries.get(path) as TarEntry),
      name: path.slice(directory.length + 1),
    }));
    for (const { content = '', ...header } of [...honest, ...this.hostile]) {
      if (header.type === undefined || header.type === 'file') archive.entry(header, content);
      else archive.entry(header);
    }
    archive.finalize();
    return Readable.from(archive as AsyncIterable<Buffer>);
  }

  /** Unpacks an archive below a directory; what was in it. */
  async unpack(directory: string, archive: Readable): Promise<{ readonly entries: number; readonly bytes: number }> {
    const reader = extract();
    archive.on('error', (e) => reader.destroy(e)).pipe(reader);
    let [entries, bytes] = [0, 0];
    for await (const entry of reader) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of entry as AsyncIterable<Uint8Array>) chunks.push(chunk);
      const path = `${directory}/${entry.header.name}`;
      this.entries.set(path, { ...entry.header, name: path, content: Buffer.concat(chunks) });
      entries++;
      bytes += entry.header.size;
    }
    return { entries, bytes };
  }
}
