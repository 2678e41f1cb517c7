import { ID_PATTERN, kernelError, parseId, type EventContract } from '@inquest/kernel';
import { messagingError } from './errors';
import { MAX_EVENT_BYTES } from './event-stream';

/** An event as it is stored: its subject and its body as JSON. */
export interface EncodedEvent {
  readonly subject: string;
  readonly json: string;
}

/** Throws `ID_INVALID` for a token that is no id, and `EVENT_OVERSIZED`. */
export function encodeEvent<Body extends object>(
  contract: EventContract<Body>,
  idTokens: readonly string[],
  body: Body,
): EncodedEvent {
  const subject = [contract.subject, ...idTokens.map((token) => parseId<string>(token, 'event subject token'))].join(
    '.',
  );
  const json = JSON.stringify(body);
  const sizeBytes = Buffer.byteLength(json);
  if (sizeBytes > MAX_EVENT_BYTES) {
    const details = { subject, sizeBytes, limitBytes: MAX_EVENT_BYTES };
    throw messagingError('EVENT_OVERSIZED', `an event for ${subject} has ${sizeBytes} bytes`, details);
  }
  return { subject, json };
}

/**
 * The subject that a watcher listens on. `ids` has one entry per id token of the contract; `*` stands for any id and a
 * last `>` for any number of them. Without `ids`: all events of the contract. Throws `INPUT_INVALID`.
 */
export function eventFilter(contract: EventContract<object>, ids: readonly string[] = ['>']): string {
  const isToken = (token: string, at: number): boolean =>
    token === '*' || (token === '>' && at === ids.length - 1) || ID_PATTERN.test(token);
  const wrong = ids.findIndex((token, at) => !isToken(token, at));
  if (wrong >= 0) {
    throw kernelError(
      'INPUT_INVALID',
      `id ${wrong + 1} of a watch on ${contract.subject} is neither an id nor a wildcard`,
      {},
    );
  }
  return [contract.subject, ...ids].join('.');
}
