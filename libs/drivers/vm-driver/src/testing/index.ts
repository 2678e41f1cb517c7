export { blankPng } from './blank-png';
export { describeVmDriver } from './describe-vm-driver';
export { FAKE_ENDINGS, type FakeEnding, type FakeEndingName } from './fake-endings';
export { serialResult } from './fake-serial-shell';
export { FAKE_SCREEN, FakeMachine } from './fake-machine';
export { FakeVmDriver, fakeMachineOf, type FakeVmDriverOptions } from './fake-vm-driver';
export { sampleVmSpec } from './vm-spec-sample';
export { describeTemplateDriver } from './describe-template-driver';
export type { HarnessEnding, MachineElsewhere, TemplateDriverHarness, VmDriverHarness } from './vm-driver-harness';
