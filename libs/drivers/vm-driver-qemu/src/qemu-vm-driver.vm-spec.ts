import { tempDir } from '@inquest/testing';
import { describeTemplateDriver, describeVmDriver } from '@inquest/vm-driver/testing';
import { QemuHarness } from './testing';

const makeHarness = async (): Promise<QemuHarness> => QemuHarness.create(await tempDir('qemu'));

describeVmDriver('qemu', makeHarness);
describeTemplateDriver('qemu', makeHarness);
