import { createReadStream } from 'node:fs';
import { LineSplitter, MAX_LINE_BYTES } from './line-splitter';
import { parseMessage, type QmpEvent } from './messages';

/**
 * The events in a file into which a monitor has written what it sent (`logfile` of its character device), in order;
 * what else it sent is passed over, and so is a line that was cut. Ends early at a line of more than 1 MiB. Throws the
 * system's error.
 */
export async function* readEventFile(path: string): AsyncGenerator<QmpEvent> {
  const lines = new LineSplitter(MAX_LINE_BYTES);
  for await (const chunk of createReadStream(path)) {
    for (const line of lines.push(chunk as Buffer)) {
      if (line === null) return;
      const message = parseMessage(line);
      if (message?.kind === 'event') yield message.event;
    }
  }
}
