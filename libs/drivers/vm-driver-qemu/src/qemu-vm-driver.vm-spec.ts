import { tempDir } from '@inquest/testing';
import { describeVmDriver } from '@inquest/vm-driver/testing';
import { QemuHarness } from './testing';

describeVmDriver('qemu', async () => QemuHarness.create(await tempDir('qemu')));
