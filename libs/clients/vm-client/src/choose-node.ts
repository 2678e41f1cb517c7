import { vmError, type NodeView } from '@inquest/contracts-vm';

/**
 * The node with the most memory left among those that can hold `memoryMib`. Throws `NODE_UNAVAILABLE` when no node
 * answered and `NODE_EXHAUSTED`, naming what each has left, when none is big enough.
 */
export function chooseNode(nodes: readonly NodeView[], memoryMib: number): NodeView {
  if (nodes.length === 0) throw vmError('NODE_UNAVAILABLE', 'no vm-service answered, so there is no node to start on');
  const fitting = nodes.filter((node) => node.memoryAvailableMib >= memoryMib);
  const best = fitting.reduce<NodeView | null>(
    (winner, node) => (winner === null || node.memoryAvailableMib > winner.memoryAvailableMib ? node : winner),
    null,
  );
  if (best !== null) return best;
  const left = nodes.map((node) => `${node.node}: ${node.memoryAvailableMib} MiB`).join(', ');
  throw vmError('NODE_EXHAUSTED', `no node has ${memoryMib} MiB to spare (${left})`, { memoryMib });
}
