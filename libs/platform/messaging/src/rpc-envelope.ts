import { headers, type MsgHdrs } from 'nats';
import type { ErrorBody } from '@inquest/kernel';
import { currentTraceId, TRACE_HEADER } from '@inquest/logging';

/** A request on the wire, the envelope of Nest's NATS transport, so that its clients can call too. */
export interface RequestEnvelope {
  readonly pattern: string;
  readonly data: unknown;
  /** Repeated in the reply. */
  readonly id: string;
}

/** A reply on the wire: either `response` or `err`. */
export interface ReplyEnvelope {
  readonly id: string | null;
  readonly response?: unknown;
  readonly err?: ErrorBody;
  /** There is one reply to a request; Nest's clients wait for this mark. */
  readonly isDisposed: true;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();

/** The bytes of a JSON value. Throws what `JSON.stringify` throws. */
export const encodeJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

/** The JSON object in `bytes`; null for anything else. */
export function decodeJsonObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Headers with the trace id of the present request, when there is one. */
export function traceHeaders(traceId: string | null = currentTraceId()): MsgHdrs {
  const result = headers();
  if (traceId !== null) result.set(TRACE_HEADER, traceId);
  return result;
}
