/** A JSON object of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An asynchronous event of the monitor. */
export interface QmpEvent {
  readonly name: string;
  /** The monitor's timestamp in ms since the Unix epoch; null when it has none (QEMU then sends -1). */
  readonly atMs: number | null;
  readonly data: JsonObject;
  /** The line as received, without its line end. */
  readonly raw: string;
}

/** One line from the monitor. */
export type QmpMessage =
  | { readonly kind: 'greeting'; readonly version: string }
  | { readonly kind: 'event'; readonly event: QmpEvent }
  | { readonly kind: 'return'; readonly id: unknown; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: unknown; readonly errorClass: string; readonly description: string };

/** Longest text of the monitor that goes into a message of ours. */
const TEXT_MAX_CHARS = 500;

/** Reads one line (QEMU's docs/interop/qmp-spec). Null when it is not one of the four kinds of message; never throws. */
export function parseMessage(raw: string): QmpMessage | null {
  const message = parseObject(raw);
  if (message === null) return null;
  if (isObject(message['QMP'])) return { kind: 'greeting', version: versionOf(message['QMP']) };
  if (typeof message['event'] === 'string') {
    const { event, timestamp, data } = message;
    return { kind: 'event', event: { name: event, atMs: timeOf(timestamp), data: isObject(data) ? data : {}, raw } };
  }
  if ('return' in message) return { kind: 'return', id: message['id'], value: message['return'] };
  if (isObject(message['error'])) {
    const { class: errorClass, desc } = message['error'];
    return { kind: 'error', id: message['id'], errorClass: textOf(errorClass), description: textOf(desc) };
  }
  return null;
}

/** True for a JSON object, false for null, arrays and everything else. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(raw: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(raw);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function timeOf(timestamp: unknown): number | null {
  if (!isObject(timestamp)) return null;
  const { seconds, microseconds } = timestamp;
  if (typeof seconds !== 'number' || typeof microseconds !== 'number' || seconds < 0) return null;
  return seconds * 1000 + microseconds / 1000;
}

function versionOf(greeting: JsonObject): string {
  const version = isObject(greeting['version']) ? greeting['version'] : {};
  const qemu = isObject(version['qemu']) ? version['qemu'] : {};
  return [qemu['major'], qemu['minor'], qemu['micro']].map((part) => (typeof part === 'number' ? part : '?')).join('.');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, TEXT_MAX_CHARS) : 'unknown');
