import type { NodeView } from '@inquest/contracts-vm';
import { useNodes } from '../api/nodes';
import { Badge } from '../components/badge';
import { EmptyState } from '../components/notice';
import { Page } from '../components/page';
import { QueryView } from '../components/query-view';
import { RecordCard, RecordList } from '../components/record-list';
import { count, size } from '../text/phrases';

const MIB = 1024 * 1024;

/** The hosts that run machines. */
export function NodesPage() {
  const nodes = useNodes();
  return (
    <Page title="Nodes">
      <QueryView answer={nodes} what="nodes" rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No node answers">
              <p>
                A node is a host on which vm-service runs. Check with <code>vmctl status</code> that it does.
              </p>
            </EmptyState>
          ) : (
            <RecordList label="Nodes">
              {items.map((node) => (
                <NodeCard key={node.node} node={node} />
              ))}
            </RecordList>
          )
        }
      </QueryView>
    </Page>
  );
}

function NodeCard({ node }: { readonly node: NodeView }) {
  const { node: name, driver, accelerator, acceleratorReason, memoryTotalMib, memoryAvailableMib, liveMachines } = node;
  const free = `${size(memoryAvailableMib * MIB)} of ${size(memoryTotalMib * MIB)}`;
  return (
    <RecordCard
      title={name}
      mark={<Badge tone="good">answers</Badge>}
      facts={[
        { label: 'Machines', value: count(liveMachines, 'live machine') },
        { label: 'Memory free', value: free },
        { label: 'Driver', value: driver },
        { label: 'Accelerator', value: accelerator },
        { label: 'Why', value: acceleratorReason || '–', isWide: true },
      ]}
    />
  );
}
