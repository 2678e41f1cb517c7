import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ForgeCheckView, PublicationList, PublicationView, RetryOptions } from '@inquest/contracts-publish';
import { callGateway, segment } from './request';

const LIST_EVERY_MS = 5_000;
const PAGE_SIZE = 50;

/** Publications, newest first, page by page. */
export const usePublications = () =>
  useInfiniteQuery({
    queryKey: ['publications'],
    queryFn: ({ pageParam, signal }) =>
      callGateway<PublicationList>('/v1/publications', { query: { limit: PAGE_SIZE, nextToken: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextToken }) => nextToken,
    refetchInterval: LIST_EVERY_MS,
  });

/** One publication, as it is now. */
export const usePublication = (publicationId: string) =>
  useQuery({
    queryKey: ['publications', publicationId],
    queryFn: ({ signal }) => callGateway<PublicationView>(`/v1/publications/${segment(publicationId)}`, { signal }),
    refetchInterval: LIST_EVERY_MS,
  });

/** Tries a publication again, on a branch of its session if need be; what is published stays as it is. */
export function useRetryPublication(publicationId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (options: RetryOptions) =>
      callGateway<PublicationView>(`/v1/publications/${segment(publicationId)}/retry`, {
        method: 'POST',
        body: options,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['publications'] }),
  });
}

/** The forge that publications go to, and whether it can be used now. */
export const useForge = () =>
  useQuery({
    queryKey: ['forge'],
    queryFn: ({ signal }) => callGateway<ForgeCheckView>('/v1/forge', { signal }),
    staleTime: 30_000,
  });
