import { Controller, Get } from '@nestjs/common';
import { IsListOf } from '@inquest/contracts-base';
import { NodeView } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';

export class NodeList {
  @IsListOf(() => NodeView, 1000) readonly items!: NodeView[];
}

@Controller('v1/nodes')
export class NodesController {
  constructor(private readonly machines: VmClient) {}

  /** The hosts that answer now. */
  @Get()
  async list(): Promise<NodeList> {
    return { items: await this.machines.nodes() };
  }
}
