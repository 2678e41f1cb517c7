import { modelError } from './errors';

/** `fetch` whose response bodies fail with `MODEL_REPLY_INVALID` after `maxBytes`: the SDK buffers a line without bound. */
export const boundedFetch =
  (maxBytes: number): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limit(maxBytes)), { status, statusText, headers });
  };

function limit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= maxBytes) controller.enqueue(chunk);
      else controller.error(modelError('MODEL_REPLY_INVALID', `the model's reply is longer than ${maxBytes} bytes`));
    },
  });
}
