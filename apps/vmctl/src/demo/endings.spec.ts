import { VERDICT_CLASSES } from '@inquest/verdict-engine';
import { ENDINGS, OUT_OF_REACH } from './endings';

describe('the endings of the demonstration', () => {
  it('bring about every class of verdict, or say why a machine of the platform does not come to it', () => {
    const shown = new Set([...ENDINGS.map(({ expected }) => expected), ...OUT_OF_REACH.map(([expected]) => expected)]);
    expect([...shown].sort()).toEqual([...VERDICT_CLASSES].sort());
  });

  it('leave nothing out under QEMU, and say of Firecracker what it lacks for the others', () => {
    const left = ENDINGS.flatMap(({ expected, notOn = {} }) =>
      Object.entries(notOn).map(([on, why]) => [on, expected, why]),
    );
    expect(left.map(([on, expected]) => `${expected} on ${on}`)).toEqual([
      'dirty_poweroff on firecracker',
      'watchdog_fired on firecracker',
      'suspended on firecracker',
      'host_error on firecracker',
      'io_error on firecracker',
    ]);
    for (const [, , why] of left) expect(why).toMatch(/^Firecracker (?:has no|hands) /);
  });
});
