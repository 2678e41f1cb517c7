import type { NodeView } from '@inquest/contracts-vm';
import { systemClock } from '@inquest/kernel';

/** Facts of this age are as good as new. */
const FRESH_MS = 1_000;
/** Older facts place nothing. Until then they do, because the node that was chosen checks its memory itself. */
const MAX_AGE_MS = 30_000;

/** What the nodes said last, so that a new machine need not wait until all of them have answered again. */
export class KnownNodes {
  private known: { readonly nodes: readonly NodeView[]; readonly atMs: number } | null = null;
  private asking: Promise<unknown> | null = null;

  constructor(private readonly ask: () => Promise<readonly NodeView[]>) {}

  /** Null when nothing useful is known. */
  recent(): readonly NodeView[] | null {
    const { known } = this;
    const isUseful = known !== null && known.nodes.length > 0 && this.ageMs <= MAX_AGE_MS;
    return isUseful ? known.nodes : null;
  }

  /** Asks anew, for the next caller, when what is known is not fresh any more. Does not wait. */
  renew(): void {
    if (this.ageMs <= FRESH_MS) return;
    this.asking ??= this.refresh()
      .catch(() => undefined)
      .finally(() => (this.asking = null));
  }

  /** Asks now. Rejects as asking does; what was known is kept then. */
  async refresh(): Promise<readonly NodeView[]> {
    const nodes = await this.ask();
    this.known = { nodes, atMs: systemClock.monotonicMs() };
    return nodes;
  }

  private get ageMs(): number {
    return this.known === null ? Number.POSITIVE_INFINITY : systemClock.monotonicMs() - this.known.atMs;
  }
}
