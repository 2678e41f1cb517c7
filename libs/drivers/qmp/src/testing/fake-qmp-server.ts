import { duplexPair, type Duplex } from 'node:stream';
import { LineSplitter } from '../line-splitter';
import { isObject, type JsonObject } from '../messages';

/** Answers one command: the `return` value, or what the monitor says against it. */
export type FakeQmpAnswer = { readonly value: unknown } | { readonly refusal: string };

/** A command that the fake received. */
export interface FakeQmpCommand {
  readonly name: string;
  readonly args: JsonObject;
}

/** Null leaves the command unanswered for ever, as a frozen monitor does. */
export type FakeQmpHandler = (command: FakeQmpCommand) => FakeQmpAnswer | null;

const GREETING = {
  QMP: { version: { qemu: { micro: 22, minor: 2, major: 7 }, package: 'fake' }, capabilities: ['oob'] },
};

/**
 * An in-memory QMP monitor: greets, insists on `qmp_capabilities` first as QEMU does, answers by `handler`.
 * Hand `clientSide` to a `QmpClient`.
 */
export class FakeQmpServer {
  readonly clientSide: Duplex;
  readonly received: FakeQmpCommand[] = [];
  private readonly serverSide: Duplex;
  private readonly lines = new LineSplitter(64 * 1024);
  private isNegotiated = false;

  constructor(
    private readonly handler: FakeQmpHandler = () => ({ value: {} }),
    options: { readonly greets?: boolean } = {},
  ) {
    [this.clientSide, this.serverSide] = duplexPair();
    this.serverSide.on('error', () => undefined);
    this.serverSide.on('data', (chunk: Buffer) => this.receive(chunk));
    if (options.greets !== false) this.sendLine(GREETING);
  }

  /** Sends an event with the given timestamp. */
  emitEvent(name: string, data: JsonObject = {}, atMs = 0): void {
    const timestamp = { seconds: Math.floor(atMs / 1000), microseconds: Math.round((atMs % 1000) * 1000) };
    this.sendLine({ timestamp, event: name, data });
  }

  /** Sends bytes as they are: for what a well-behaved monitor would not send. */
  sendRaw(bytes: string | Uint8Array): void {
    this.serverSide.write(bytes);
  }

  /** Ends the connection from the monitor's side. */
  hangUp(): void {
    this.serverSide.end();
  }

  private sendLine(message: JsonObject): void {
    this.sendRaw(`${JSON.stringify(message)}\r\n`);
  }

  private receive(chunk: Buffer): void {
    for (const line of this.lines.push(chunk)) {
      const request: unknown = line === null ? null : JSON.parse(line);
      if (isObject(request)) this.answer(request);
    }
  }

  private answer(request: JsonObject): void {
    const { id } = request;
    const name = String(request['execute']);
    const args = isObject(request['arguments']) ? request['arguments'] : {};
    this.received.push({ name, args });
    if (name === 'qmp_capabilities') {
      this.isNegotiated = true;
      return this.sendLine({ return: {}, id });
    }
    const answer = this.isNegotiated ? this.handler({ name, args }) : { refusal: `Expecting capabilities negotiation` };
    if (answer === null) return;
    if ('value' in answer) this.sendLine({ return: answer.value, id });
    else this.sendLine({ error: { class: 'GenericError', desc: answer.refusal }, id });
  }
}
