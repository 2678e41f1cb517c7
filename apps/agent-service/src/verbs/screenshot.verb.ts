import { Injectable } from '@nestjs/common';
import type { ScreenshotArguments } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { IncarnationRequest } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** `screenshot`: the screen as PNG, base64, where the image has one. */
@Injectable()
export class ScreenshotVerb implements VerbHandler<ScreenshotArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke(_args: ScreenshotArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const { png } = await this.machines.screenshot(dto(IncarnationRequest, { machineId }), { signal });
    return answered(`data:image/png;base64,${png}`);
  }
}
