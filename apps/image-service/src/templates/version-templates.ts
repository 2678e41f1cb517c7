import { Injectable, Logger } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import type { VersionTemplateView } from '@inquest/contracts-image';
import { MakeTemplateRequest, TemplateStateRequest, vmError, type NodeView } from '@inquest/contracts-vm';
import { hasCode, toDomainError, type DomainError } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';
import type { ImageVersionEntity } from '../images/image-version.entity';
import { VersionLog } from '../images/version-log';
import type { OperationProgress } from '../operations/operations.service';

/** Of which version. */
type VersionKey = Pick<ImageVersionEntity, 'name' | 'version'>;

/** What became of a template on one node. */
interface TemplateOutcome {
  /** It was made now. */
  readonly isNew: boolean;
  /** Why there is none. */
  readonly failure: DomainError | null;
}

/** Templates of frozen versions, which the nodes make and keep. */
@Injectable()
export class VersionTemplates {
  private readonly log = new Logger(VersionTemplates.name);

  constructor(
    private readonly machines: VmClient,
    private readonly logs: VersionLog,
  ) {}

  /** How the template stands on every node that answers, for machines that name no size. */
  async statesOf(row: VersionKey & Pick<ImageVersionEntity, 'defaultMemoryMib'>): Promise<VersionTemplateView[]> {
    const { name: image, version, defaultMemoryMib: memoryMib } = row;
    const states = await this.machines.templateStates(dto(TemplateStateRequest, { image, version, memoryMib }));
    return states.map(({ node, state, detail }) => ({ node, state, detail }));
  }

  /**
   * Has every node that answers make the template of a frozen version; gives how many made one now. Never rejects,
   * because the version is as good without: its machines boot then. What each node did is in the version's log.
   */
  async make(key: VersionKey, progress: OperationProgress): Promise<number> {
    try {
      await progress.step('template', 95);
      const nodes = await this.machines.nodes({ signal: progress.signal });
      const outcomes = await this.makeOn(key, nodes, progress.signal);
      return outcomes.filter(({ isNew }) => isNew).length;
    } catch (e) {
      this.log.warn(`${key.name}:${key.version} has no template`, e);
      return 0;
    }
  }

  /**
   * The same, for the sake of the templates alone. Throws the first failure once every node is done, and
   * `NODE_UNAVAILABLE` when none answers. A node without templates is none.
   */
  async remake(key: VersionKey, progress: OperationProgress): Promise<void> {
    await progress.step('template', 10);
    const nodes = await this.machines.nodes({ signal: progress.signal });
    if (nodes.length === 0) throw vmError('NODE_UNAVAILABLE', 'no node answers, so none can make a template');
    const outcomes = await this.makeOn(key, nodes, progress.signal);
    const failures = outcomes.flatMap(({ failure }) => failure ?? []);
    const failure = failures.find((error) => !hasCode(error, 'MACHINE_CAPABILITY_MISSING'));
    if (failure !== undefined) throw failure;
  }

  /** Has the nodes remove what they keep of a version that nothing starts on any more. Never rejects: it is only space. */
  async remove({ name, version }: VersionKey): Promise<void> {
    const nodes = await this.machines.removeTemplates({ image: name, version }).catch((e: unknown) => {
      this.log.warn(`templates of ${name}:${version} may be left on nodes`, e);
      return [];
    });
    for (const node of nodes) await this.logs.append(name, version, `no template on node ${node} any more\n`);
  }

  /** On all of these nodes at once. */
  private makeOn(key: VersionKey, nodes: readonly NodeView[], signal: AbortSignal): Promise<TemplateOutcome[]> {
    return Promise.all(nodes.map(({ node }) => this.makeOnNode(key, node, signal)));
  }

  private async makeOnNode({ name, version }: VersionKey, node: string, signal: AbortSignal): Promise<TemplateOutcome> {
    const tell = (outcome: string) => this.logs.append(name, version, `template on node ${node}: ${outcome}\n`);
    try {
      const request = dto(MakeTemplateRequest, { image: name, version });
      const { memoryMib, cpus, isNew } = await this.machines.makeTemplate(node, request, { signal });
      const shape = `${memoryMib} MiB, ${cpus} processor${cpus === 1 ? '' : 's'}`;
      await tell(`${isNew ? 'made' : 'there already'} (${shape})`);
      return { isNew, failure: null };
    } catch (e) {
      const failure = toDomainError(e);
      await tell(`none, machines boot (${failure.code}: ${failure.message})`);
      return { isNew: false, failure };
    }
  }
}
