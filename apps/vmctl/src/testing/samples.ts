import type { ConfirmationView } from '@inquest/contracts-agent';
import type { MachineView, VerdictReport, VerdictView } from '@inquest/contracts-vm';

/** A machine as the platform shows it. */
export const sampleMachine = (fields: Partial<MachineView> = {}): MachineView => ({
  machineId: 'local-2345678923',
  name: 'box',
  node: 'local',
  image: 'tiny',
  version: 1,
  state: 'ready',
  reason: 'ready',
  message: 'the guest agent answers',
  incarnation: 1,
  cpus: 1,
  memoryMib: 256,
  accelerator: 'tcg',
  hasScreen: false,
  rtcBaseMs: null,
  shares: [],
  peer: null,
  origin: null,
  owner: null,
  createdAtMs: 1_700_000_000_000,
  readyAtMs: 1_700_000_005_000,
  endedAtMs: null,
  lastSeenAtMs: null,
  verdict: null,
  egress: { isUp: false, allowedHosts: [], hasLocalModel: false },
  isRemoved: false,
  ...fields,
});

export const sampleVerdict = (fields: Partial<VerdictView> = {}): VerdictView => ({
  class: 'clean_poweroff',
  confidence: 'certain',
  account: 'The guest powered off.',
  blame: 'none',
  ended: true,
  boots: 1,
  deciding: [{ file: 'serial.log', offset: 5120, length: 18, quote: 'reboot: Power down' }],
  contributing: [],
  warnings: [],
  ...fields,
});

export const sampleReport = (verdict: Partial<VerdictView> = {}): VerdictReport => ({
  machineId: sampleMachine().machineId,
  incarnation: 1,
  verdict: sampleVerdict(verdict),
  engineVersion: '1',
  isProvisional: verdict.ended === false,
});

/** A question that waits for a person. */
export const sampleConfirmation = (fields: Partial<ConfirmationView> = {}): ConfirmationView => ({
  confirmationId: 'cnf-2345678923',
  sessionId: 'ses-1',
  project: 'site',
  runId: 'run-1',
  callId: 'call-1',
  argumentsDigest: `sha256:${'0'.repeat(64)}`,
  verb: 'ask',
  origin: 'ask',
  question: 'Delete the old data?',
  choices: [],
  argumentsText: '',
  argumentsLength: 0,
  state: 'open',
  choice: null,
  reason: '',
  by: null,
  askedAtMs: 1_700_000_000_000,
  expiresAtMs: 1_700_003_600_000,
  endedAtMs: null,
  ...fields,
});
