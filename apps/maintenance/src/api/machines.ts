import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  DestroyedView,
  EvidenceFileName,
  EvidenceView,
  MachineList,
  MachineState,
  MachineView,
  VerdictReport,
} from '@inquest/contracts-vm';
import { callGateway, openGateway, segment } from './request';
import { useGrowingText, type GrowingText } from './use-growing-text';

const LIST_EVERY_MS = 3_000;
const SHOW_EVERY_MS = 2_000;
const LISTED = 200;

/** Machines of all nodes, newest first; also ended ones when `all`. */
export const useMachines = (all: boolean) =>
  useQuery({
    queryKey: ['machines', { all }],
    queryFn: ({ signal }) => callGateway<MachineList>('/v1/machines', { query: { all, limit: LISTED }, signal }),
    refetchInterval: LIST_EVERY_MS,
  });

/** One machine, until it has been removed. */
export const useMachine = (machineId: string) =>
  useQuery({
    queryKey: ['machines', machineId],
    queryFn: ({ signal }) => callGateway<MachineView>(`/v1/machines/${segment(machineId)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.isRemoved ? false : SHOW_EVERY_MS),
  });

/** The verdict of an incarnation; of one that lives, as of a probe made now: once per `state` that it comes into. */
export const useVerdict = (machineId: string, incarnation: number, state: MachineState) =>
  useQuery({
    queryKey: ['machines', machineId, 'verdict', incarnation, state],
    queryFn: ({ signal }) =>
      callGateway<VerdictReport>(`/v1/machines/${segment(machineId)}/verdict`, { query: { incarnation }, signal }),
    staleTime: Infinity,
  });

/** What a new machine is to be. Null takes the default. */
export interface NewMachine {
  readonly image: string;
  readonly version: number | null;
  readonly name: string | null;
  readonly memoryMib: number | null;
}

/** Starts a machine; answers once the start was accepted. */
export function useStartMachine() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewMachine) => callGateway<MachineView>('/v1/machines', { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: ['machines'] }),
  });
}

/** What can be done to a machine as a whole. */
export type MachineAct = 'shutdown' | 'reset' | 'remove';

/** How long a request to power off waits for the machine to end. */
const POWER_OFF_WAIT_MS = 30_000;

/** Acts on the incarnation that the page shows, and on no later one. */
export function useMachineAct({ machineId, incarnation }: Pick<MachineView, 'machineId' | 'incarnation'>) {
  const client = useQueryClient();
  const path = `/v1/machines/${segment(machineId)}`;
  return useMutation({
    mutationFn: (act: MachineAct): Promise<MachineView | DestroyedView> => {
      if (act === 'remove') return callGateway<DestroyedView>(path, { method: 'DELETE' });
      const body = act === 'shutdown' ? { mode: 'poweroff', waitMs: POWER_OFF_WAIT_MS, incarnation } : { incarnation };
      return callGateway<MachineView>(`${path}/${act}`, { method: 'POST', body });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['machines'] }),
  });
}

/** A node's own deadline for a picture, and the way of the largest one. */
const SCREENSHOT_TIMEOUT_MS = 60_000;

/** Takes a picture of the screen, as a data URL: the page may show no other picture than its own. */
export const useScreenshot = (machineId: string) =>
  useMutation({
    mutationFn: async () => {
      const path = `/v1/machines/${segment(machineId)}/screenshot`;
      const signal = AbortSignal.timeout(SCREENSHOT_TIMEOUT_MS);
      const response = await openGateway(path, { method: 'POST', signal });
      return { url: await dataUrl(await response.blob()), atMs: Date.now() };
    },
  });

const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('the picture cannot be read'));
    reader.readAsDataURL(blob);
  });

/** Which bytes of the evidence are meant. */
export interface EvidencePlace {
  readonly machineId: string;
  readonly incarnation: number;
  readonly file: EvidenceFileName;
}

const readEvidence = ({ machineId, incarnation, file }: EvidencePlace, fromOffset: number, signal: AbortSignal) =>
  callGateway<EvidenceView>(`/v1/machines/${segment(machineId)}/evidence/${segment(file)}`, {
    query: { incarnation, fromOffset },
    signal,
  });

/** An evidence file from `fromOffset` on, growing while `isLive`. */
export const useEvidenceFile = (
  place: EvidencePlace,
  options: { readonly isLive: boolean; readonly fromOffset?: number },
): GrowingText =>
  useGrowingText(
    `evidence ${place.machineId} ${place.incarnation} ${place.file} ${options.fromOffset ?? 0}`,
    (fromOffset, signal) => readEvidence(place, fromOffset, signal),
    options,
  );

/** How large an evidence file is now. */
export const useEvidenceSize = (place: EvidencePlace, isLive: boolean) =>
  useQuery({
    queryKey: ['machines', place.machineId, 'evidence', place.incarnation, place.file, isLive],
    queryFn: async ({ signal }) => (await readEvidence(place, Number.MAX_SAFE_INTEGER, signal)).sizeBytes,
    staleTime: Infinity,
  });
