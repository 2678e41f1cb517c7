import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { SessionList, SessionView } from '@inquest/contracts-agent';
import { callGateway, segment } from './request';

const LIST_EVERY_MS = 4_000;
const SHOW_EVERY_MS = 2_000;
const PAGE_SIZE = 50;

/** Whether no more will happen in a session. */
export const hasEnded = ({ state }: Pick<SessionView, 'state'>): boolean => state === 'closed' || state === 'failed';

/** Sessions, newest first, page by page. */
export const useSessions = () =>
  useInfiniteQuery({
    queryKey: ['sessions'],
    queryFn: ({ pageParam, signal }) =>
      callGateway<SessionList>('/v1/sessions', { query: { limit: PAGE_SIZE, nextToken: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextToken }) => nextToken,
    refetchInterval: LIST_EVERY_MS,
  });

/** One session, until it has ended. */
export const useSession = (sessionId: string) =>
  useQuery({
    queryKey: ['sessions', sessionId],
    queryFn: ({ signal }) => callGateway<SessionView>(`/v1/sessions/${segment(sessionId)}`, { signal }),
    refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : SHOW_EVERY_MS),
  });
