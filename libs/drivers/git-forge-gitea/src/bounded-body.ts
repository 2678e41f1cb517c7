import { gitForgeError } from '@inquest/git-forge';

/** The largest answer that is read. The longest that Gitea gives here is a page of 50 releases. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** The body of an answer as text. Throws `FORGE_RESPONSE_INVALID` as soon as it is too large; the rest is not read. */
export async function readBoundedText(response: Response, maxBytes = MAX_ANSWER_BYTES): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let sizeBytes = 0;
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) {
      throw gitForgeError('FORGE_RESPONSE_INVALID', `an answer of the forge has more than ${maxBytes} bytes`, {
        maxBytes,
      });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A body parsed as JSON; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
