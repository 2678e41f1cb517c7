import { mayEndTheMachine } from './ending-command';

describe('mayEndTheMachine', () => {
  it.each([
    'poweroff',
    'reboot -f',
    '/sbin/halt',
    'sync; poweroff -f',
    'sudo systemctl poweroff',
    'systemctl --no-wall reboot',
    'echo c > /proc/sysrq-trigger',
    'sleep 1 && init 0',
    'nohup shutdown -h now',
    'echo mem > /sys/power/state',
  ])('waits for the machine after %s', (command) => {
    expect(mayEndTheMachine(command)).toBe(true);
  });

  it.each([
    'echo reboot',
    'ls',
    'grep -r poweroff /etc',
    'cat init.log',
    'make initialise',
    './poweroff-test.sh',
    'true',
  ])('does not wait after %s', (command) => {
    expect(mayEndTheMachine(command)).toBe(false);
  });
});
