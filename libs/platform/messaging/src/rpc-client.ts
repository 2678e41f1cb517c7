import { Injectable, Logger } from '@nestjs/common';
import { createInbox, ErrorCode, nuid, type Msg, type NatsConnection, type NatsError } from 'nats';
import { parseDto } from '@inquest/config';
import {
  abortable,
  errorFromBody,
  isDomainError,
  subjectFor,
  systemClock,
  toDomainError,
  type DomainError,
  type Operation,
} from '@inquest/kernel';
import { messagingError } from './errors';
import { NatsClient } from './nats-client';
import { decodeJsonObject, encodeJson, traceHeaders, type RequestEnvelope } from './rpc-envelope';
import { RpcObservers } from './rpc-observers';

export interface CallOptions {
  /** Required for a `perNode` operation: the host that shall answer. */
  readonly node?: string;
  /** Instead of the operation's own. */
  readonly timeoutMs?: number;
  /** Stops waiting; the service may still do the work. */
  readonly signal?: AbortSignal;
}

export interface GatherOptions {
  /** How long answers are collected. */
  readonly windowMs: number;
  /** Stops early with this many answers. */
  readonly expect?: number;
  /** Stops early when no answer came for this long after the last one. */
  readonly quietMs?: number;
  readonly signal?: AbortSignal;
}

/** Answers that one gather keeps: a peer that answers for ever must not fill the memory. */
const MAX_GATHERED = 1_000;
/** Status of the message that the server sends in place of a reply when nobody listens (NATS ADR-4, no responders). */
const NO_RESPONDERS = 503;

/** Calls operations of other services. Throws what they throw, with code, fault and details, and the `RPC_` codes. */
@Injectable()
export class RpcClient {
  private readonly logger = new Logger(RpcClient.name);

  constructor(
    private readonly nats: NatsClient,
    private readonly observers: RpcObservers,
  ) {}

  /**
   * One request, one reply, checked against the contract. At most once: after `RPC_TIMEOUT`, `RPC_REPLY_OVERSIZED` or
   * `RPC_REPLY_INVALID` the work may have been done, after the other codes of this library it was not begun.
   */
  async call<Req extends object, Res extends object>(
    op: Operation<Req, Res>,
    request: Req,
    options: CallOptions = {},
  ): Promise<Res> {
    const startedMs = systemClock.monotonicMs();
    const outcome = await this.exchange(op, request, options).then(
      (value) => ({ value }),
      (e: unknown) => ({ error: toDomainError(e) }),
    );
    this.observers.notify({
      side: 'client',
      subject: op.subject,
      outcome: 'error' in outcome ? outcome.error.code : 'ok',
      durationMs: systemClock.monotonicMs() - startedMs,
    });
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /**
   * Asks every node at once (the handlers are marked `everyNode`) and collects what they answer within `windowMs`.
   * A node that answers with an error or not at all is missing from the result; nobody at all gives an empty list.
   * Throws `RPC_DISCONNECTED`, `RPC_REQUEST_OVERSIZED` and `OPERATION_ABORTED`.
   */
  async gather<Req extends object, Res extends object>(
    op: Operation<Req, Res>,
    request: Req,
    options: GatherOptions,
  ): Promise<Res[]> {
    const { connection } = this.nats.session();
    const payload = this.encode(connection, op.subject, request);
    const replies = await collect(connection, op.subject, payload, options);
    return replies.flatMap((reply) => {
      try {
        return [openReply(op, reply.data)];
      } catch (e) {
        this.logger.warn(`an answer to ${op.subject} is left out`, e);
        return [];
      }
    });
  }

  private async exchange<Req extends object, Res extends object>(
    op: Operation<Req, Res>,
    request: Req,
    { node, timeoutMs = op.timeoutMs, signal }: CallOptions,
  ): Promise<Res> {
    if (op.perNode && node === undefined) {
      throw messagingError('RPC_NODE_MISSING', `${op.subject} was called without naming a node`, {
        subject: op.subject,
      });
    }
    const subject = subjectFor(op, node ?? null);
    const { connection } = this.nats.session();
    const payload = this.encode(connection, subject, request);
    const requested = connection
      .request(subject, payload, { timeout: timeoutMs, headers: traceHeaders() })
      .catch((e: unknown) => {
        throw requestFailure(e, subject, timeoutMs);
      });
    const reply = signal === undefined ? await requested : await abortable(requested, signal, `the call of ${subject}`);
    return openReply(op, reply.data);
  }

  private encode(connection: NatsConnection, subject: string, data: object): Uint8Array {
    const envelope: RequestEnvelope = { pattern: subject, data, id: nuid.next() };
    const payload = encodeJson(envelope);
    const limit = connection.info?.max_payload;
    if (limit !== undefined && payload.length > limit) {
      const details = { subject, sizeBytes: payload.length, limitBytes: limit };
      throw messagingError('RPC_REQUEST_OVERSIZED', `the request to ${subject} has ${payload.length} bytes`, details);
    }
    return payload;
  }
}

/** The contents of a reply as the contract promises them; throws the error that was sent instead. */
function openReply<Res extends object>(op: Operation<object, Res>, bytes: Uint8Array): Res {
  const envelope = decodeJsonObject(bytes);
  const sent = envelope?.['err'] === undefined ? null : errorFromBody(envelope['err']);
  if (sent !== null) throw sent;
  if (envelope === null || !('response' in envelope)) throw invalidReply(op.subject, 'it is not a reply envelope');
  try {
    // A peer is no more trusted than a user: a reply that breaks the contract fails here, not three calls later.
    return parseDto(op.response, envelope['response'], { unknown: 'strip' });
  } catch (e) {
    throw invalidReply(op.subject, isDomainError(e) ? e.message : 'it cannot be read', e);
  }
}

const invalidReply = (subject: string, why: string, cause?: unknown): DomainError =>
  messagingError('RPC_REPLY_INVALID', `the reply of ${subject} breaks its contract: ${why}`, { subject }, cause);

function requestFailure(e: unknown, subject: string, timeoutMs: number): DomainError {
  switch ((e as Partial<NatsError>).code as ErrorCode | undefined) {
    case ErrorCode.NoResponders:
      return messagingError('RPC_NO_RESPONDER', `no service answers ${subject}`, { subject }, e);
    case ErrorCode.Timeout:
      return messagingError('RPC_TIMEOUT', `no answer on ${subject} within ${timeoutMs} ms`, { subject, timeoutMs }, e);
    default:
      return messagingError(
        'RPC_DISCONNECTED',
        `the connection was lost during the call of ${subject}`,
        { subject },
        e,
      );
  }
}

/** Everything that answers one message within the window. */
function collect(
  connection: NatsConnection,
  subject: string,
  payload: Uint8Array,
  { windowMs, expect = MAX_GATHERED, quietMs, signal }: GatherOptions,
): Promise<Msg[]> {
  const replies: Msg[] = [];
  const inbox = createInbox();
  let finish: () => void = () => undefined;
  let quiet: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => (finish = resolve));
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null || message.headers?.code === NO_RESPONDERS) return finish();
      replies.push(message);
      if (replies.length >= Math.min(expect, MAX_GATHERED)) return finish();
      if (quietMs === undefined) return;
      clearTimeout(quiet);
      quiet = setTimeout(finish, quietMs);
    },
  });
  const window = setTimeout(() => finish(), windowMs);
  connection.publish(subject, payload, { reply: inbox, headers: traceHeaders() });
  const collected = enough.then(() => replies);
  return (signal === undefined ? collected : abortable(collected, signal, `gathering ${subject}`)).finally(() => {
    clearTimeout(window);
    clearTimeout(quiet);
    subscription.unsubscribe();
  });
}
