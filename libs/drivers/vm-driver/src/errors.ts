import { defineErrors } from '@inquest/kernel';

/** What any machine driver can throw; a driver adds no codes of its own. */
export const vmDriverError = defineErrors({
  VM_SPEC_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A machine specification has a value that no driver accepts; nothing was started.',
    remediation: 'Correct every value that the message names and start again.',
  },
  VM_INSTANCE_EXISTS: {
    fault: 'caller',
    status: 409,
    when: 'The instance directory of the machine exists already, so another life of it may still be running.',
    remediation: 'Destroy that instance first, or start under another directory.',
  },
  VM_HOST_UNSUPPORTED: {
    fault: 'infra',
    status: 503,
    when: 'This host cannot run the driver at all: its program is missing or does not run.',
    remediation: 'Install what the message names (`vmctl doctor` checks it) and try again.',
  },
  VM_HOST_MEMORY_EXHAUSTED: {
    fault: 'infra',
    status: 503,
    when: 'The machine wants more memory than the host has available beyond its reserve.',
    remediation: 'Destroy a machine, ask for less memory, or place the machine on another node.',
  },
  VM_FILE_UNREADABLE: {
    fault: 'infra',
    status: 500,
    when: 'The user that machines run as cannot read a kernel, initramfs, disk image or shared directory.',
    remediation: 'Make the file world-readable and each of its parent directories searchable (chmod o+x).',
  },
  VM_OVERLAY_FAILED: {
    fault: 'infra',
    status: 507,
    when: 'The overlay disk of the machine could not be made.',
    remediation: 'Read the reason in the message; free disk space, or verify the image version it is based on.',
  },
  VM_START_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'The machine monitor ended or refused a command before the guest ran; nothing of it is left.',
    remediation: 'Read the end of its error output in the message; `vmctl doctor` checks the host.',
  },
  VM_START_TIMEOUT: {
    fault: 'infra',
    status: 504,
    when: 'The machine monitor did not come up before the deadline of the start; nothing of it is left.',
    remediation: 'Look at the load of the host, then try again.',
  },
  VM_INSTANCE_LEFTOVER: {
    fault: 'infra',
    status: 500,
    when: 'A start failed, and then something of the machine could not be removed.',
    remediation: 'Read in the message what is left, cure its cause, and destroy the instance.',
  },
  VM_MACHINE_ENDED: {
    fault: 'guest',
    status: 409,
    when: 'The call needs a living machine and this one has ended.',
    remediation: 'Read its verdict, then reset it or start another.',
  },
  VM_MONITOR_SILENT: {
    fault: 'infra',
    status: 504,
    when: 'The machine monitor did not answer a command before the deadline, although its process lives.',
    remediation: 'Destroy the machine; a monitor that is stopped or starved does not answer.',
  },
  VM_COMMAND_REFUSED: {
    fault: 'guest',
    status: 409,
    when: 'The machine monitor refused a command in the present state of the machine; the message has its words.',
    remediation: 'Ask for the status of the machine; one that panicked or failed inside can only be reset.',
  },
  VM_PROCESS_UNKILLABLE: {
    fault: 'infra',
    status: 500,
    when: 'SIGKILL was sent to the machine monitor and its process was still there when the wait was over.',
    remediation: 'Look for a process in state D on the host (a hung disk or network file system), then destroy again.',
  },
  VM_MACHINE_UNCAPTURABLE: {
    fault: 'caller',
    status: 409,
    when: 'The machine was not started to become a template, is of another driver, has shares or a network, or has ended.',
    remediation: 'Start a machine as capturable, wait until its agent answers, and capture that one.',
  },
  VM_TEMPLATE_EXISTS: {
    fault: 'caller',
    status: 409,
    when: 'The directory that a template should be made in exists already.',
    remediation: 'Use that template, or remove it first when no clone stands on it.',
  },
  VM_INSTANCE_UNADOPTABLE: {
    fault: 'infra',
    status: 409,
    when: 'A machine of an earlier process cannot be taken over: it has ended, does not answer, or its record is damaged.',
    remediation: 'Nothing has to be done: it is ended with a verdict that says so; start the machine anew.',
  },
  VM_CAPTURE_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'The memory, device state or disk of a machine could not be saved as a template; nothing of one is left.',
    remediation: 'Read the reason in the message; free disk space, then make the template again.',
  },
  VM_TEMPLATE_UNFIT: {
    fault: 'infra',
    status: 409,
    when: 'A template is missing, half-made, was changed since it was made, or is of another monitor than this host has.',
    remediation:
      'Machines boot meanwhile. It is made again by itself within minutes; `vmctl image template NAME` does it now and says what fails.',
  },
  VM_SCREENSHOT_FAILED: {
    fault: 'infra',
    status: 500,
    when: 'The machine monitor said that it had written a picture of the display, and it had not.',
    remediation: 'Take it again; if that fails too, free disk space on the host.',
  },
  VM_INPUT_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A text has a character that no key types, a key has no such name, a position is not on the screen, or a command is empty or too long for a serial port.',
    remediation: 'Correct what the message names; nothing of this input was sent to the machine.',
  },
  VM_SERIAL_BUSY: {
    fault: 'caller',
    status: 409,
    when: 'Another command is being run by the serial port of the machine, which takes one at a time; nothing was typed.',
    remediation: 'Wait for its end or its time limit, then try again.',
  },
  VM_SERIAL_SILENT: {
    fault: 'guest',
    status: 504,
    when: 'No shell answered on the second serial port of the machine; the command was not run.',
    remediation:
      'Only an image with a shell on ttyS1 answers there (`tiny` has one), and no paused or hung guest; else read the verdict and reset the machine.',
  },
  VM_SERIAL_GARBLED: {
    fault: 'guest',
    status: 502,
    when: 'The second serial port of the machine closed, or what came from it is not what the shell was asked for.',
    remediation: 'Read in the message what was last seen, then try again; a guest that goes on so has to be reset.',
  },
  VM_SERIAL_TIMEOUT: {
    fault: 'guest',
    status: 504,
    when: 'A command by the serial port had not ended at its time limit; it was sent an interrupt, as by Ctrl-C.',
    remediation: 'Give it more time with `--timeout`, or have it run in the background with its output in a file.',
  },
  VM_CAPABILITY_MISSING: {
    fault: 'caller',
    status: 501,
    when: 'The driver, or this machine, does not have the optional power that the call needs.',
    remediation: 'Use an image that declares it, or a driver that supports it; the machine is unharmed.',
  },
});
