import { useQuery } from '@tanstack/react-query';
import type { NodeView } from '@inquest/contracts-vm';
import { callGateway } from './request';

const LIST_EVERY_MS = 5_000;

/** The hosts that answer now. */
export const useNodes = () =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => callGateway<{ readonly items: readonly NodeView[] }>('/v1/nodes', { signal }),
    refetchInterval: LIST_EVERY_MS,
  });
