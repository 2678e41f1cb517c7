import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ImportDeclaration } from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { offline, problemOf } from './problem';
import { callGateway, queryString, segment } from './request';
import { readToken } from './token';

/** What is imported, and as which image: a file of this computer, or a path in the import directory of the platform. */
export interface ImageImport {
  readonly name: string;
  readonly declaration: Pick<ImportDeclaration, 'format' | 'digest' | 'memoryMib' | 'requiredCli'>;
  readonly source: { readonly file: File } | { readonly path: string };
}

/** How far an upload is, and how to give it up. */
export interface UploadWatch {
  readonly onSent: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/** Imports the next version of an image. Answers with the operation to watch, for an upload once all of it was received. */
export function useImageImport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ wanted, watch }: { readonly wanted: ImageImport; readonly watch: UploadWatch }) => {
      const { name, declaration, source } = wanted;
      const path = `/v1/images/${segment(name)}/import`;
      return 'file' in source
        ? upload(`${path}${queryString({ ...declaration })}`, source.file, watch)
        : callGateway<OperationView>(path, {
            method: 'POST',
            body: { ...declaration, path: source.path },
            signal: watch.signal,
          });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['images'] }),
  });
}

/** `fetch` does not tell how much of a body was sent. Throws a `Problem`, and the signal's reason when it was given up. */
function upload(url: string, file: File, { onSent, signal }: UploadWatch): Promise<OperationView> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.responseType = 'json';
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('authorization', `Bearer ${readToken() ?? ''}`);
    request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
    request.addEventListener('load', () => {
      if (request.status === 202) resolve(request.response as OperationView);
      else reject(problemOf(request.status, request.response));
    });
    request.addEventListener('error', () => reject(offline(new Error('the upload broke off'))));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}
