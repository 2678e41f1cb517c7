import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { MachineView, TerminalList, TerminalTicket, TerminalView } from '@inquest/contracts-vm';
import { callGateway, segment } from './request';

const LIST_EVERY_MS = 3_000;

const pathOf = (machineId: string): string => `/v1/machines/${segment(machineId)}/terminals`;

/** Terminals of a machine: those that run, and those that ended a short while ago. */
export const useTerminals = (machineId: string) =>
  useQuery({
    queryKey: ['machines', machineId, 'terminals'],
    queryFn: ({ signal }) => callGateway<TerminalList>(pathOf(machineId), { signal }),
    refetchInterval: LIST_EVERY_MS,
  });

/** Opens a login shell in the incarnation that the page shows. */
export function useOpenTerminal({ machineId, incarnation }: Pick<MachineView, 'machineId' | 'incarnation'>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => callGateway<TerminalView>(pathOf(machineId), { method: 'POST', body: { incarnation } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['machines', machineId, 'terminals'] }),
  });
}

/** Ends the command of a terminal, and everything that it started. */
export const useCloseTerminal = (machineId: string, terminalId: string) =>
  useMutation({
    mutationFn: () => callGateway<TerminalView>(`${pathOf(machineId)}/${segment(terminalId)}`, { method: 'DELETE' }),
  });

/** A ticket for one WebSocket, which goes on at `fromOffset` of the output where that is not null. */
export const attachTerminal = (
  machineId: string,
  terminalId: string,
  fromOffset: number | null,
  signal: AbortSignal,
): Promise<TerminalTicket> =>
  callGateway<TerminalTicket>(`${pathOf(machineId)}/${segment(terminalId)}/attach`, {
    method: 'POST',
    body: { mode: 'control', fromOffset },
    signal,
  });
