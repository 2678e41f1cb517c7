import { Injectable } from '@nestjs/common';
import type { ScreenshotArguments } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { IncarnationRequest } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

/** `screenshot`: a picture of the screen, where the image has one. The text tells its size; the picture is beside it. */
@Injectable()
export class ScreenshotVerb implements VerbHandler<ScreenshotArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke(_args: ScreenshotArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const request = dto(IncarnationRequest, { machineId });
    const { width, height, sizeBytes, picture } = await this.machines.screenshot(request, { signal });
    return { ...answered(`a picture of ${width} x ${height} pixels (PNG, ${sizeBytes} bytes)`, sizeBytes), picture };
  }
}
