import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { gitForgeError, type ReleaseArtifact } from '@inquest/git-forge';
import { newId } from '@inquest/kernel';

/** One upload: the body streams the file, which is never held whole. */
export interface UploadBody {
  readonly contentType: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * A file as `multipart/form-data` (RFC 7578) with the one field `attachment`, which is what Gitea's API document asks
 * for. The name of the artifact was checked and needs no escaping. Throws `FORGE_ARTIFACT_UNREADABLE` when the file is
 * missing or has another size than announced, also while it is streamed.
 */
export async function uploadBody(artifact: ReleaseArtifact): Promise<UploadBody> {
  const status = await stat(artifact.filePath).catch((e: unknown) => {
    throw unreadable(artifact, 'cannot be read', e);
  });
  if (!status.isFile()) throw unreadable(artifact, 'is no regular file');
  if (status.size !== artifact.sizeBytes) throw unreadable(artifact, `has ${status.size} bytes`);
  const boundary = `----${newId('inquest')}${newId('part')}`;
  return { contentType: `multipart/form-data; boundary=${boundary}`, chunks: parts(artifact, boundary) };
}

async function* parts(artifact: ReleaseArtifact, boundary: string): AsyncGenerator<Uint8Array> {
  const disposition = `form-data; name="attachment"; filename="${artifact.name}"`;
  yield Buffer.from(
    `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`,
  );
  let sentBytes = 0;
  try {
    for await (const chunk of createReadStream(artifact.filePath) as AsyncIterable<Buffer>) {
      sentBytes += chunk.byteLength;
      yield chunk;
    }
  } catch (e) {
    throw unreadable(artifact, 'could not be read to its end', e);
  }
  // Without the closing line Gitea refuses the form, so a file that changed while it was read makes no artifact.
  if (sentBytes !== artifact.sizeBytes) throw unreadable(artifact, `gave ${sentBytes} bytes`);
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

const unreadable = ({ name, filePath, sizeBytes }: ReleaseArtifact, why: string, cause?: unknown) =>
  gitForgeError(
    'FORGE_ARTIFACT_UNREADABLE',
    `artifact ${name}: ${filePath} of ${sizeBytes} bytes ${why}`,
    { artifact: name },
    cause,
  );
