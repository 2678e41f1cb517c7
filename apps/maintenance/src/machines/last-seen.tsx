import type { MachineView } from '@inquest/contracts-vm';
import { Ago, useNowMs } from '../components/age';

/** The guest agent is heard every second; one silent for this long is in doubt. */
const DOUBTFUL_AFTER_MS = 30_000;

/** When the host last heard of the guest: what is known, never what is hoped. */
export function LastSeen({ machine: { state, lastSeenAtMs, endedAtMs } }: { readonly machine: MachineView }) {
  const nowMs = useNowMs();
  if (state === 'ended') return endedAtMs === null ? <>ended</> : <>ended {<Ago atMs={endedAtMs} />}</>;
  if (lastSeenAtMs === null) return <>not seen yet</>;
  const isDoubtful = nowMs - lastSeenAtMs > DOUBTFUL_AFTER_MS;
  return (
    <span className={isDoubtful ? 'doubtful' : undefined}>
      last seen <Ago atMs={lastSeenAtMs} />
      {isDoubtful && ': it may be hung'}
    </span>
  );
}
