import { Injectable } from '@nestjs/common';
import type { ListFilesArguments, ReadFileArguments, WriteFileArguments } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { ListFilesRequest, ReadFileRequest, WriteFileRequest, type FileEntryView } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** `read_file`: a text file of the guest, cut where the caller said. */
@Injectable()
export class ReadFileVerb implements VerbHandler<ReadFileArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke({ path, maxBytes }: ReadFileArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const file = await this.machines.readFile(dto(ReadFileRequest, { machineId, path, maxBytes }), { signal });
    const notes = [
      file.isTruncated ? `only the first ${maxBytes} of ${file.sizeBytes} bytes` : '',
      file.isLossy ? 'bytes that are not UTF-8 replaced' : '',
    ].filter((note) => note !== '');
    return answered(notes.length > 0 ? `[${notes.join('; ')}]\n${file.text}` : file.text, file.sizeBytes);
  }
}

/** `write_file`: replaces a text file of the guest. */
@Injectable()
export class WriteFileVerb implements VerbHandler<WriteFileArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke({ path, content, mode }: WriteFileArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const { sizeBytes } = await this.machines.writeFile(
      dto(WriteFileRequest, { machineId, path, text: content, mode }),
      { signal },
    );
    return answered(`wrote ${sizeBytes} bytes to ${path}`, sizeBytes);
  }
}

/** `list_files`: one directory of the guest. */
@Injectable()
export class ListFilesVerb implements VerbHandler<ListFilesArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke({ path }: ListFilesArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const { entries, isTruncated } = await this.machines.listFiles(dto(ListFilesRequest, { machineId, path }), {
      signal,
    });
    if (entries.length === 0) return answered(`${path} is empty`);
    const lines = entries.map(line);
    return answered([...lines, ...(isTruncated ? ['[more entries not shown]'] : [])].join('\n'));
  }
}

const SUFFIX = { dir: '/', link: '@', file: '', other: '?' } as const;

const line = ({ name, kind, sizeBytes, mode }: FileEntryView): string =>
  `${mode} ${String(sizeBytes).padStart(10)} ${name}${SUFFIX[kind]}`;
