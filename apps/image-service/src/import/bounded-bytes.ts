import { Transform } from 'node:stream';
import { oversizedSource } from './formats/source-refusal';

/** Passes bytes through, and fails with `IMAGE_SOURCE_OVERSIZED` at more than `maxBytes` of them. */
export function boundedBytes(what: string, maxBytes: number): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length;
      if (total > maxBytes) done(oversizedSource(what, maxBytes));
      else done(null, chunk);
    },
  });
}
