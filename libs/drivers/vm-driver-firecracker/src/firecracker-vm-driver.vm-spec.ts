import { requireVsockDevice } from '@inquest/guest-link/testing';
import { tempDir } from '@inquest/testing';
import { describeVmDriver } from '@inquest/vm-driver/testing';
import { FirecrackerHarness } from './testing';

const { path: vsockProgram } = requireVsockDevice('the Firecracker driver, with or without Firecracker,');

(vsockProgram === null ? describe.skip : describe)('without Firecracker', () => {
  describeVmDriver('firecracker, played by a stand-in (QEMU with vhost-device-vsock)', async () =>
    FirecrackerHarness.create(await tempDir('firecracker')),
  );
});
