import { Injectable } from '@nestjs/common';
import type { CheckInternetArguments } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-shared';
import { ExecRequest } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

const PROBE_TIMEOUT_MS = 10_000;

/** `check_internet`: what the guest really has, asked of the guest, with what that means for the one who asks. */
@Injectable()
export class CheckInternetVerb implements VerbHandler<CheckInternetArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke(_args: CheckInternetArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const listing = await this.machines.exec(
      dto(ExecRequest, { machineId, command: 'ls /sys/class/net', timeoutMs: PROBE_TIMEOUT_MS }),
      { signal },
    );
    const cards = listing.stdout.text.split(/\s+/).filter((name) => name !== '' && name !== 'lo');
    const found = cards.length === 0 ? 'no network card' : `these network cards: ${cards.join(', ')}`;
    return answered(
      `This machine has ${found}, no resolver and no route to the internet; no host was allowed for this session. ` +
        'ping and downloads cannot work here. Use what the image already contains.',
    );
  }
}
