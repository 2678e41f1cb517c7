/** Programs that end a machine, at the place of a command: after a separator, a prefix or a path. */
const ENDING_PROGRAM =
  /(?:^|[;&|(`\n]|\b(?:sudo|exec|nohup|setsid|busybox)\s)\s*(?:\/\S*\/)?(?:poweroff|halt|reboot|shutdown|init\s+[06]|telinit|kexec|systemctl\s+(?:\S+\s+)*(?:poweroff|halt|reboot|kexec|suspend))\b/;
const SYSRQ = /\/proc\/sysrq-trigger|\/sys\/power\/state/;

/**
 * Whether a command line is likely to end its machine. Such a command returns before the machine is gone, so its
 * caller waits to see what becomes of the machine; after every other command nobody waits.
 */
export const mayEndTheMachine = (command: string): boolean => ENDING_PROGRAM.test(command) || SYSRQ.test(command);
