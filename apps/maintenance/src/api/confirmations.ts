import { useEffect } from 'react';
import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type {
  ConfirmationAnswer,
  ConfirmationDecision,
  ConfirmationList,
  ConfirmationView,
} from '@inquest/contracts-agent';
import { newId } from '@inquest/kernel';
import { followEvents } from './follow-events';
import { Problem } from './problem';
import { callGateway, segment } from './request';

/** Only in case that an event was missed: changes come by themselves. */
const LIST_EVERY_MS = 30_000;
const PAGE_SIZE = 50;
const MAX_RETRIES = 3;
const KEY = ['confirmations', 'open'];

/** The questions that wait for a person, of all sessions, newest first; live. */
export function useOpenConfirmations(): ConfirmationList | undefined {
  const client = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    // What cannot be followed is still asked for from time to time.
    followChanges(client, leaving.signal).catch(() => undefined);
    return () => leaving.abort();
  }, [client]);
  const { data } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      callGateway<ConfirmationList>('/v1/confirmations', { query: { state: 'open', limit: PAGE_SIZE }, signal }),
    refetchInterval: LIST_EVERY_MS,
  });
  return data;
}

async function followChanges(client: QueryClient, signal: AbortSignal): Promise<void> {
  const onConnection = (isConnected: boolean): void => {
    // Listed once the stream has begun: what changed before is in the list, what changes later in the stream.
    if (isConnected) void client.invalidateQueries({ queryKey: KEY });
  };
  for await (const { data } of followEvents('/v1/confirmations/events', { signal, onConnection })) {
    // Not awaited: the next event makes a listing of this one begin anew.
    void adopt(client, JSON.parse(data) as ConfirmationView);
  }
}

/**
 * What is over is taken out at once; what is open may be over by now (a stream begins a little before the present), so
 * that is asked for. A listing under way may be older than the change and is begun anew.
 */
async function adopt(client: QueryClient, changed: ConfirmationView): Promise<void> {
  await client.cancelQueries({ queryKey: KEY });
  if (changed.state !== 'open') {
    client.setQueryData<ConfirmationList>(KEY, (list) => list && without(list, changed.confirmationId));
  }
  await client.invalidateQueries({ queryKey: KEY });
}

const without = (list: ConfirmationList, id: string): ConfirmationList => ({
  ...list,
  items: list.items.filter(({ confirmationId }) => confirmationId !== id),
});

/** What a person decided about a confirmation as it was shown. */
export interface Decision {
  readonly confirmation: ConfirmationView;
  readonly decision: ConfirmationDecision;
  readonly choice: string | null;
  readonly reason: string;
}

/** Answers a confirmation. Asked again where the reply was lost: the same answer counts once. */
export function useAnswerConfirmation() {
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: ({
      confirmationId,
      answer,
    }: {
      readonly confirmationId: string;
      readonly answer: ConfirmationAnswer;
    }) =>
      callGateway<ConfirmationView>(`/v1/confirmations/${segment(confirmationId)}/answer`, {
        method: 'POST',
        body: answer,
      }),
    retry: (count, e) => count < MAX_RETRIES && e instanceof Problem && (e.status === 0 || e.status >= 502),
    onSuccess: (answered) => adopt(client, answered),
    // Somebody else may have answered, or its time was over.
    onError: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const answer = ({ confirmation, decision, choice, reason }: Decision): void => {
    const { confirmationId, runId, callId, argumentsDigest } = confirmation;
    const requestId = newId<string>('req');
    mutation.mutate({
      confirmationId,
      answer: { runId, callId, argumentsDigest, decision, choice, reason, requestId },
    });
  };
  return { answer, isBusy: mutation.isPending, error: mutation.error, reset: mutation.reset };
}
