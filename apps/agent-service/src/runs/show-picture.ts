import type { StreamTicket } from '@inquest/contracts-base';
import { toDomainError } from '@inquest/kernel';
import type { ModelMessage } from '@inquest/model-client';
import { fetchPicture } from '@inquest/vm-client';

/** What endpoints that take pictures take of one, with room for its base64 in a request of 20 MB. */
export const MODEL_PICTURE_MAX_BYTES = 8 * 1024 * 1024;

/**
 * Adds the picture to a conversation. Only the newest is kept: an older one says what the screen no longer shows, and
 * every turn carries the whole conversation. A picture that cannot be had is a text that says why; only an abort of
 * `signal` is thrown.
 */
export async function showPicture(messages: ModelMessage[], ticket: StreamTicket, signal: AbortSignal): Promise<void> {
  const message = await pictureMessage(ticket, signal);
  for (const [at, older] of messages.entries()) {
    if (older.role === 'user' && older.picture !== undefined)
      messages[at] = { role: 'user', text: 'An older picture.' };
  }
  messages.push(message);
}

async function pictureMessage(ticket: StreamTicket, signal: AbortSignal): Promise<ModelMessage> {
  try {
    const picture = await fetchPicture(ticket, signal);
    if (picture.length <= MODEL_PICTURE_MAX_BYTES) return { role: 'user', text: 'The picture.', picture };
    const limit = `${picture.length} bytes, and a model is shown at most ${MODEL_PICTURE_MAX_BYTES}`;
    return { role: 'user', text: `The picture is too large: it has ${limit}.` };
  } catch (e) {
    signal.throwIfAborted();
    return { role: 'user', text: `There is no picture: ${toDomainError(e).message}` };
  }
}
