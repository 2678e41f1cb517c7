import { Injectable } from '@nestjs/common';
import type { CheckInternetArguments } from '@inquest/contracts-agent';
import { dto } from '@inquest/contracts-base';
import { ExecRequest, type EgressView } from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { proxyProbe } from './proxy-probe';
import { answered, type VerbAnswer, type VerbContext, type VerbHandler } from './verb-context';

const LISTING_TIMEOUT_MS = 10_000;
/** The proxy resolves a name and tries several addresses before it gives up. */
const PROBE_TIMEOUT_MS = 30_000;

/** `check_internet`: what the guest really has, asked of the guest, with what that means for the one who asks. */
@Injectable()
export class CheckInternetVerb implements VerbHandler<CheckInternetArguments> {
  constructor(private readonly machines: VmClient) {}

  async invoke(_args: CheckInternetArguments, { machineId, signal }: VerbContext): Promise<VerbAnswer> {
    const { egress } = await this.machines.show(machineId, { signal });
    const listing = await this.run(machineId, 'ls /sys/class/net', LISTING_TIMEOUT_MS, signal);
    const cards = listing.split(/\s+/).filter((name) => name !== '' && name !== 'lo');
    const found = cards.length === 0 ? 'no network card' : `these network cards: ${cards.join(', ')}`;
    const lines = [
      `This machine has ${found}, no resolver and no route to the internet. ping cannot work here, whatever is allowed.`,
      ...(egress.allowedHosts.length === 0 ? [NOTHING_ALLOWED] : await this.describeProxy(machineId, egress, signal)),
      ...(egress.hasLocalModel ? ['The local model answers HTTP at http://127.0.0.1:11434 of this machine.'] : []),
    ];
    return answered(lines.join('\n'));
  }

  private async describeProxy(machineId: string, egress: EgressView, signal: AbortSignal): Promise<string[]> {
    if (!egress.isUp) return [`Allowed are ${egress.allowedHosts.join(', ')}, but the proxy to them is not up.`];
    return [
      `HTTPS (port 443) works through the proxy that HTTPS_PROXY names, to these hosts: ${egress.allowedHosts.join(', ')}.`,
      'Everything else is refused by the proxy with a 403 that names the rule; plain HTTP and other ports never work.',
      ...(await this.tryProxy(machineId, egress.allowedHosts, signal)),
    ];
  }

  /** A wildcard names no host that could be tried. */
  private async tryProxy(machineId: string, allowed: readonly string[], signal: AbortSignal): Promise<string[]> {
    const host = allowed.find((entry) => !entry.startsWith('*'));
    if (host === undefined) return [];
    const probe = proxyProbe(host);
    return [probe.describe(await this.run(machineId, probe.command, PROBE_TIMEOUT_MS, signal))];
  }

  private async run(machineId: string, command: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
    const { stdout } = await this.machines.exec(dto(ExecRequest, { machineId, command, timeoutMs }), { signal });
    return stdout.text;
  }
}

const NOTHING_ALLOWED =
  'No host was allowed for this session: downloads cannot work. Use what the image already contains.';
