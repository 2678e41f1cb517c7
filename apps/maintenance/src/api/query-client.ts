import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem';

const MAX_RETRIES = 2;

/** Asks again only where that can help; what was refused is shown at once. */
export const newQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        retry: (count, e) => count < MAX_RETRIES && e instanceof Problem && (e.status === 0 || e.status >= 502),
        staleTime: 1_000,
        // The gateway is on loopback as often as not: what the browser thinks of the network says nothing about it.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
