import { WebSocket } from 'ws';
import { TERMINAL_PROTOCOL, type TerminalMessage, type ViewerMessage } from '@inquest/contracts-vm';

const TAIL_CHARS = 64 * 1024;

type MessageOf<Type extends TerminalMessage['type']> = Extract<TerminalMessage, { readonly type: Type }>;

/** A viewer of a terminal, for tests: what it was shown and told, and promises of what is to come. */
export class TerminalWatcher {
  readonly messages: TerminalMessage[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  shownBytes = 0;
  private readonly chunks: Buffer[] = [];
  /** The end of what was shown: looking through all of it at each message would take for ever. */
  private tail = '';
  private readonly looks = new Set<() => void>();

  private constructor(readonly socket: WebSocket) {
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.show(data as Buffer);
      else this.messages.push(JSON.parse((data as Buffer).toString()) as TerminalMessage);
      for (const look of [...this.looks]) look();
    });
  }

  /** Connects, and resolves with the first message. Rejects when the handshake is refused, with the status. */
  static async connect(
    url: string,
    protocols: string[] = [TERMINAL_PROTOCOL],
    headers: Record<string, string> = {},
  ): Promise<TerminalWatcher> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { headers });
    const watcher = new TerminalWatcher(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    await watcher.whenTold('attached');
    return watcher;
  }

  get shown(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.shown.toString('utf8');
  }

  get attached(): MessageOf<'attached'> {
    return this.messages[0] as MessageOf<'attached'>;
  }

  /** Keys, as bytes. */
  type(keys: string | Uint8Array): void {
    this.socket.send(typeof keys === 'string' ? Buffer.from(keys) : keys);
  }

  say(message: ViewerMessage): void {
    this.socket.send(JSON.stringify(message));
  }

  /** ASCII, near the end of what was shown. */
  async whenShown(text: string): Promise<void> {
    await this.when(() => (this.tail.includes(text) ? true : undefined));
  }

  /** The first message of that type that `fits`, also one that has come already. */
  whenTold<Type extends TerminalMessage['type']>(
    type: Type,
    fits: (message: MessageOf<Type>) => boolean = () => true,
  ): Promise<MessageOf<Type>> {
    return this.when(() =>
      this.messages.find((message): message is MessageOf<Type> => message.type === type && fits(message as never)),
    );
  }

  /** Goes away without a word. */
  cut(): void {
    this.socket.terminate();
  }

  private show(bytes: Buffer): void {
    this.chunks.push(bytes);
    this.shownBytes += bytes.length;
    this.tail = `${this.tail}${bytes.toString('latin1')}`.slice(-TAIL_CHARS);
  }

  private when<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        this.looks.delete(look);
        resolve(found);
      };
      this.looks.add(look);
      look();
    });
  }
}
