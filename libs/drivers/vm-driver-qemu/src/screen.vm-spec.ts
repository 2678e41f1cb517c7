import { inflateSync } from 'node:zlib';
import { GuestAgentClient } from '@inquest/guest-link';
import { eventually, tempDir } from '@inquest/testing';
import {
  cloneSpecOf,
  pngSize,
  requireInput,
  requireScreenshots,
  strokesOfText,
  type InputAction,
  type KeyStroke,
  type VmHandle,
} from '@inquest/vm-driver';
import { QemuHarness } from './testing';

const soon = (): AbortSignal => AbortSignal.timeout(60_000);

const press = (stroke: KeyStroke): InputAction[] => [
  ...stroke.map((key) => ({ kind: 'key', key, isDown: true }) as const),
  ...stroke.toReversed().map((key) => ({ kind: 'key', key, isDown: false }) as const),
];
const type = (text: string): InputAction[] => strokesOfText(text).flatMap(press);

/** How much of a picture is not as the pixel beside it: nothing on an even ground, some for each character. */
function ink(png: Uint8Array): number {
  const bytes = Buffer.from(png);
  const data: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += bytes.readUInt32BE(at) + 12) {
    const isData = bytes.toString('latin1', at + 4, at + 8) === 'IDAT';
    if (isData) data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  return inflateSync(Buffer.concat(data)).filter((byte) => byte !== 0).length;
}

/** More than a blinking cursor makes, less than a short line. */
const LINE_INK = 400;

describe('the screen of a real guest', () => {
  let harness: QemuHarness;
  let machine: VmHandle;
  beforeAll(async () => {
    harness = await QemuHarness.create(await tempDir('qemu-screen'));
    machine = await harness.driver.start(harness.makeSpec({ hasScreen: true, isCapturable: true }), soon());
    await outputOf(machine, 'true');
  });
  afterAll(() => harness.dispose());

  /** Standard output of a shell command in the guest. */
  async function outputOf(of: VmHandle, shell: string): Promise<string> {
    const agent = new GuestAgentClient(of.link);
    await agent.ping({ signal: AbortSignal.timeout(harness.guestUpMs), deadlineMs: harness.guestUpMs });
    const { stdout } = await agent.execBounded(
      { shell },
      { signal: soon(), bounds: { headBytes: 4096, tailBytes: 0 } },
    );
    return Buffer.from(stdout.head).toString('utf8').trim();
  }

  const picture = (of: VmHandle): Promise<Uint8Array> => requireScreenshots(of).screenshot(soon());

  it('shows what is typed into its text console, and the guest gets it', async () => {
    await eventually(() => outputOf(machine, 'ps | grep "[s]h -l"').then((shell) => shell !== ''));
    const before = await picture(machine);
    expect(pngSize(before).width).toBeGreaterThanOrEqual(640);
    await requireInput(machine).sendInput(type("echo 'Typed & seen!' > /tmp/typed\n"), soon());
    await eventually(async () => (await outputOf(machine, 'cat /tmp/typed')) === 'Typed & seen!');
    await eventually(async () => ink(await picture(machine)) > ink(before) + LINE_INK);
  });

  it('points where the host means to, and scrolls', async () => {
    const device = 'device=$(grep -l "QEMU Virtio Tablet" /sys/class/input/event*/device/name | cut -d/ -f5)';
    // Open before it says so: events are for those that listen.
    const read = 'exec 3</dev/input/$device; touch /tmp/listening; head -c 192 <&3 | od -An -v -tu2 -w24';
    const events = outputOf(machine, `${device}; ${read}`);
    await eventually(() => outputOf(machine, 'ls /tmp/listening').then((file) => file !== ''));
    await requireInput(machine).sendInput(
      [
        { kind: 'move', x: 0.5, y: 0.25 },
        { kind: 'scroll', direction: 'down', steps: 1 },
        { kind: 'button', button: 'left', isDown: true },
        { kind: 'button', button: 'left', isDown: false },
      ],
      soon(),
    );
    // struct input_event: the time, then type, code and value (linux/input.h).
    const seen = (await events).split('\n').map((line) => line.trim().split(/\s+/).slice(8, 11).map(Number));
    expect(seen).toContainEqual([3, 0, 16384]);
    expect(seen).toContainEqual([3, 1, 8192]);
    expect(seen).toContainEqual([2, 8, 65535]);
    expect(seen).toContainEqual([1, 272, 1]);
  });

  it('is there in every clone, with what was on it, and its own from then on', async () => {
    const template = await harness.driver.captureTemplate(machine, harness.makeTemplatePath(), soon());
    expect(template.hasScreen).toBe(true);
    const spec = cloneSpecOf(harness.makeSpec(), template);
    const clone = await harness.driver.clone(spec, soon());
    const before = await picture(clone);
    await requireInput(clone).sendInput(type('cat /tmp/typed > /tmp/again\n'), soon());
    await eventually(async () => (await outputOf(clone, 'cat /tmp/again')) === 'Typed & seen!');
    await eventually(async () => ink(await picture(clone)) > ink(before) + LINE_INK);
    await harness.driver.destroyInstance(spec.directory);
  });
});
