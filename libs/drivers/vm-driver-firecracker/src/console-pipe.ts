import { open as openCallback, closeSync, constants } from 'node:fs';
import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net';
import { promisify } from 'node:util';
import { delay } from '@inquest/kernel';
import { runCommand } from '@inquest/process';
import type { BoundedLog } from '@inquest/vm-driver';

const open = promisify(openCallback);
const MAKE_DEADLINE_MS = 10_000;
/** The most that is taken at once, and what a pipe holds (pipe(7)). */
const CHUNK_BYTES = 64 * 1024;
/**
 * Between two reads. A serial port is written byte by byte, and waking up for each byte of a boot costs this process
 * time of a processor that the guest needs.
 */
const PAUSE_MS = 10;

/**
 * The named pipe that a monitor writes its guest's console to. It can be written from the moment it is made, and ends
 * when the last process that was started on it has.
 */
export class ConsolePipe {
  private copied: Promise<void> = Promise.resolve();
  private socket: Socket | null = null;

  private constructor(
    private readonly reader: number,
    private readonly writer: number,
  ) {}

  /** Makes the pipe at `file`, for this user only. Rejects with the system's error; nothing is open then. */
  static async make(file: string, signal: AbortSignal): Promise<ConsolePipe> {
    await runCommand('mkfifo', ['-m', '600', file], { timeoutMs: MAKE_DEADLINE_MS, signal });
    const reader = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // A pipe without a writer has ended before it began.
      return new ConsolePipe(reader, await open(file, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch (e) {
      closeSync(reader);
      throw e;
    }
  }

  /** Settles when the console has ended and all of it is in the log; at once before `copyTo`. Never rejects. */
  get ended(): Promise<void> {
    return this.copied;
  }

  /**
   * Copies the console into the log, in large pieces, and gives each piece to `hear`. To be called once, when the
   * monitor has the pipe. A console that the disk cannot follow is read more slowly. Once `closing` aborts there are no
   * pauses any more.
   */
  copyTo(log: BoundedLog, hear: (chunk: Uint8Array) => void, closing: AbortSignal): void {
    let reading = Promise.resolve();
    const take = (socket: Socket, chunk: Buffer): void => {
      hear(chunk);
      reading = log.append(chunk).then(async () => {
        if (!closing.aborted) await delay(PAUSE_MS, closing).catch(() => undefined);
        socket.resume();
      });
    };
    const options: SocketConstructorOpts & ConnectOpts = {
      fd: this.reader,
      readable: true,
      writable: false,
      onread: {
        buffer: Buffer.alloc(CHUNK_BYTES),
        callback: (length, buffer) => {
          // The buffer is used again for the next read.
          take(socket, Buffer.from(buffer.subarray(0, length)));
          return false;
        },
      },
    };
    const socket = new Socket(options);
    this.socket = socket;
    // A read that fails ends the console, which 'close' tells.
    socket.on('error', () => undefined);
    this.copied = new Promise<void>((resolve) => socket.once('close', () => resolve())).then(() => reading);
    socket.resume();
    closeSync(this.writer);
  }

  /** Gives up what has not come yet, and closes the pipe. To be called once. */
  stop(): void {
    if (this.socket !== null) return void this.socket.destroy();
    closeSync(this.reader);
    closeSync(this.writer);
  }
}
