import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ImageDiffView,
  ImageList,
  ImageLogView,
  ImageVersionDetail,
  ImageVersionView,
  ImageView,
} from '@inquest/contracts-image';
import type { OperationView } from '@inquest/contracts-base';
import { callGateway, segment } from './request';
import { useGrowingText, type GrowingText } from './use-growing-text';

const LIST_EVERY_MS = 4_000;
/** Checks tick in while a version is being proven. */
const BUSY_EVERY_MS = 800;
/** One long poll of an operation. */
const WAIT_MS = 20_000;
const ASK_AGAIN_MS = 250;

/** Work on an image that the platform does as an operation. Null: the version that fits. */
export type ImageWork =
  | { readonly kind: 'build' }
  | { readonly kind: 'freeze' | 'verify' | 'template'; readonly version: number | null }
  | { readonly kind: 'unfreeze'; readonly version: number | null; readonly reason: string };

/** All images, as they are now. */
export const useImages = () =>
  useQuery({
    queryKey: ['images'],
    queryFn: ({ signal }) => callGateway<ImageList>('/v1/images', { signal }),
    refetchInterval: LIST_EVERY_MS,
  });

/** One image; asked for often while something `isBusy` with it. */
export const useImage = (name: string, isBusy: boolean) =>
  useQuery({
    queryKey: ['images', name],
    queryFn: ({ signal }) => callGateway<ImageView>(`/v1/images/${segment(name)}`, { signal }),
    refetchInterval: isBusy ? BUSY_EVERY_MS : LIST_EVERY_MS,
  });

/** An operation, followed step by step until it has ended. */
export function useOperation(operationId: string) {
  const client = useQueryClient();
  const queryKey = ['operations', operationId];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const known = client.getQueryData<OperationView>(queryKey);
      // The first answer comes at once; the next when there is something new to say.
      const query = known?.state === 'running' ? { waitMs: WAIT_MS, knownStep: known.step } : {};
      const path = `/v1/operations/${segment(operationId)}`;
      const operation = await callGateway<OperationView>(path, { query, signal });
      // What it changed last: a digest, a state.
      if (operation.state !== 'running') void client.invalidateQueries({ queryKey: ['images'] });
      return operation;
    },
    refetchInterval: ({ state }) => (state.data === undefined || state.data.state === 'running' ? ASK_AGAIN_MS : false),
    staleTime: 0,
  });
}

/** Asks for work on an image; answers with the operation to watch. */
export function useImageWork(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ kind, ...body }: ImageWork) =>
      callGateway<OperationView>(`/v1/images/${segment(name)}/${kind}`, { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: ['images'] }),
  });
}

/** Asks an operation to stop; what it has made so far is undone or kept as failed. */
export function useCancelOperation(operationId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callGateway<OperationView>(`/v1/operations/${segment(operationId)}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: ['operations', operationId] }),
  });
}

/** Ends of a version: nothing starts on it any more; its files are gone. */
export type VersionEnding = 'retire' | 'remove';

/** Ends a version. Refused while something stands on it, naming what. */
export function useVersionEnding(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ ending, version }: { readonly ending: VersionEnding; readonly version: number }) => {
      const path = `/v1/images/${segment(name)}/versions/${segment(version)}`;
      return ending === 'remove'
        ? callGateway<ImageVersionView>(path, { method: 'DELETE' })
        : callGateway<ImageVersionView>(`${path}/retire`, { method: 'POST', body: {} });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['images'] }),
  });
}

/** Where a version comes from, what stands on it, what it takes. */
export const useVersionDetail = (name: string, version: number) =>
  useQuery({
    queryKey: ['images', name, 'versions', version],
    queryFn: ({ signal }) =>
      callGateway<ImageVersionDetail>(`/v1/images/${segment(name)}/versions/${segment(version)}`, { signal }),
    refetchInterval: LIST_EVERY_MS,
  });

/** What differs between two versions; not asked for while `from` is null. */
export const useVersionDiff = (name: string, from: number | null, to: number) =>
  useQuery({
    queryKey: ['images', name, 'diff', from, to],
    queryFn: ({ signal }) =>
      callGateway<ImageDiffView>(`/v1/images/${segment(name)}/diff`, { query: { from, to }, signal }),
    enabled: from !== null,
    staleTime: Infinity,
  });

/** The build and smoke log of a version. */
export const useVersionLog = (name: string, version: number, isLive: boolean): GrowingText =>
  useGrowingText(
    `log ${name} ${version}`,
    (fromOffset, signal) =>
      callGateway<ImageLogView>(`/v1/images/${segment(name)}/versions/${segment(version)}/log`, {
        query: { fromOffset },
        signal,
      }),
    { isLive },
  );
