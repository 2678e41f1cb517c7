import { Injectable, Logger } from '@nestjs/common';
import { dto } from '@inquest/contracts-base';
import { MakeTemplateRequest } from '@inquest/contracts-vm';
import { toDomainError } from '@inquest/kernel';
import { VmClient } from '@inquest/vm-client';
import type { ImageVersionEntity } from '../images/image-version.entity';
import { VersionLog } from '../images/version-log';
import type { OperationProgress } from '../operations/operations.service';

/** Templates of frozen versions, which the nodes make and keep. */
@Injectable()
export class VersionTemplates {
  private readonly log = new Logger(VersionTemplates.name);

  constructor(
    private readonly machines: VmClient,
    private readonly logs: VersionLog,
  ) {}

  /**
   * Has every node that answers make the template of a frozen version; gives how many made one now. Never rejects,
   * because the version is as good without: its machines boot then. What each node did is in the version's log.
   */
  async make(
    { name, version }: Pick<ImageVersionEntity, 'name' | 'version'>,
    progress: OperationProgress,
  ): Promise<number> {
    try {
      await progress.step('template', 95);
      const nodes = await this.machines.nodes({ signal: progress.signal });
      const made = await Promise.all(
        nodes.map(async ({ node }) => {
          const { isNew, outcome } = await this.makeOn(node, { name, version }, progress.signal);
          await this.logs.append(name, version, `template on node ${node}: ${outcome}\n`);
          return isNew;
        }),
      );
      return made.filter(Boolean).length;
    } catch (e) {
      this.log.warn(`${name}:${version} has no template`, e);
      return 0;
    }
  }

  /** Has the nodes remove what they keep of a version that nothing starts on any more. Never rejects: it is only space. */
  async remove({ name, version }: Pick<ImageVersionEntity, 'name' | 'version'>): Promise<void> {
    const nodes = await this.machines.removeTemplates({ image: name, version }).catch((e: unknown) => {
      this.log.warn(`templates of ${name}:${version} may be left on nodes`, e);
      return [];
    });
    for (const node of nodes) await this.logs.append(name, version, `no template on node ${node} any more\n`);
  }

  private async makeOn(
    node: string,
    { name, version }: Pick<ImageVersionEntity, 'name' | 'version'>,
    signal: AbortSignal,
  ): Promise<{ readonly isNew: boolean; readonly outcome: string }> {
    try {
      const request = dto(MakeTemplateRequest, { image: name, version });
      const { memoryMib, cpus, isNew } = await this.machines.makeTemplate(node, request, { signal });
      const size = `${memoryMib} MiB, ${cpus} processor${cpus === 1 ? '' : 's'}`;
      return { isNew, outcome: `${isNew ? 'made' : 'there already'} (${size})` };
    } catch (e) {
      const { code, message } = toDomainError(e);
      return { isNew: false, outcome: `none, machines boot (${code}: ${message})` };
    }
  }
}
