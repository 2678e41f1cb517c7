import { defineErrors } from '@inquest/kernel';

/** What vm-service answers when it cannot do what was asked. */
export const vmError = defineErrors({
  MACHINE_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'No machine of that id or name is known on this platform.',
    remediation:
      'List the machines with `vmctl ls --all`; a removed machine keeps its verdict under `vmctl verdict <id>`.',
  },
  MACHINE_NAME_TAKEN: {
    fault: 'caller',
    status: 409,
    when: 'Another live machine has that name.',
    remediation: 'Choose another name, or remove the other machine with `vmctl rm <name>`.',
  },
  MACHINE_MAINTENANCE_TAKEN: {
    fault: 'caller',
    status: 409,
    when: 'Another live machine has the working copy of the image open for maintenance.',
    remediation: 'Use that machine, or power it off first: `vmctl ls` shows it.',
  },
  MACHINE_STATE_WRONG: {
    fault: 'caller',
    status: 409,
    when: 'The machine is not in a state in which the verb makes sense.',
    remediation: 'See its state with `vmctl ls`; `vmctl reset <machine>` starts it afresh.',
  },
  MACHINE_INCARNATION_STALE: {
    fault: 'caller',
    status: 409,
    when: 'The command was meant for an earlier incarnation; the machine was reset since.',
    remediation: 'Read the machine again and decide anew whether the command still makes sense.',
  },
  MACHINE_BOOT_FAILED: {
    fault: 'guest',
    status: 422,
    when: 'The guest did not answer before its boot deadline. The machine was torn down.',
    remediation: 'Read the last console lines in the message; if they stop early, the image or its kernel is at fault.',
  },
  MACHINE_LOST: {
    fault: 'guest',
    status: 410,
    when: 'The machine ended, or its agent went away, while the verb was at work.',
    remediation: 'Read how it ended with `vmctl verdict <machine>`.',
  },
  MACHINE_CAPABILITY_MISSING: {
    fault: 'caller',
    status: 422,
    when: 'The image or driver of this machine does not have what the verb needs, for example a screen.',
    remediation:
      'Start a machine on an image that has it (`vmctl image ls` says what each offers), or with `vmctl new --screen`.',
  },
  MACHINE_UNCLONABLE: {
    fault: 'caller',
    status: 409,
    when: 'A machine that runs cannot be copied: it is tied to others, writes its disk itself, or its driver makes no copies.',
    remediation: 'Start a second machine of the same image with `vmctl new`, and bring the files over with `vmctl cp`.',
  },
  SHARE_REFUSED: {
    fault: 'caller',
    status: 422,
    when: 'A directory cannot be shared: machines may not see it or cannot read it, or its place in the guest is taken.',
    remediation: 'Name a directory of its own that everybody may read, or give the machine a copy: `vmctl new --copy`.',
  },
  SHARE_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'The machine has no share at that path of its guest.',
    remediation: 'See what it has with `vmctl show <machine>`.',
  },
  SHARE_NOT_MOUNTED: {
    fault: 'guest',
    status: 502,
    when: 'The guest could not mount a share, so the machine did not become ready.',
    remediation:
      'Read the reason in the message; an image whose guest agent is older than this platform has to be frozen again.',
  },
  MACHINE_START_REFUSED: {
    fault: 'infra',
    status: 503,
    when: 'This node could not start the machine: the hypervisor refused, or the disk is full.',
    remediation: 'The message has the reason; `vmctl doctor` checks the host.',
  },
  TEMPLATE_NOT_MADE: {
    fault: 'infra',
    status: 500,
    when: 'No template could be made of an image version on this node; machines on it boot instead of being cloned.',
    remediation: 'Read the reason in the message; `POST /v1/templates` of that vm-service makes the template again.',
  },
  GUEST_PATH_UNFIT: {
    fault: 'caller',
    status: 422,
    when: 'The path in the guest is of a kind that the verb cannot work on, for example a directory to be read as text.',
    remediation: 'List the directory above it to see what is there.',
  },
  NODE_EXHAUSTED: {
    fault: 'infra',
    status: 503,
    when: 'No node has the memory that the machine asks for.',
    remediation: 'Ask for less memory, remove machines that are no longer needed, or add a node.',
  },
  NODE_UNAVAILABLE: {
    fault: 'infra',
    status: 503,
    when: 'No node answered, or the node that owns the machine does not answer.',
    remediation: 'Check with `vmctl status` that vm-service runs on that node.',
  },
  LOCAL_MODEL_MISSING: {
    fault: 'caller',
    status: 422,
    when: 'A machine asks for the local model, and its node has none.',
    remediation: 'Start it without, or set INQUEST_LOCAL_MODEL_URL for vm-service on that node.',
  },
  TERMINAL_UNKNOWN: {
    fault: 'caller',
    status: 404,
    when: 'The machine has no such terminal; one that has ended is forgotten after a while.',
    remediation: 'List those of the machine with `vmctl shell --list <machine>`, or open a new one.',
  },
  TERMINAL_LIMIT_REACHED: {
    fault: 'caller',
    status: 429,
    when: 'The machine has as many terminals, or the terminal as many viewers, as it may have.',
    remediation: 'Close a terminal that is not needed any more, or leave one that you only watch.',
  },
  TERMINAL_CONTROL_MISSING: {
    fault: 'caller',
    status: 409,
    when: 'A viewer types, or sets the size, and is not the one in control.',
    remediation: 'Take control first; attach again in mode control when you may only view.',
  },
  TERMINAL_MESSAGE_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A viewer sends a text message that is no message of the terminal protocol.',
    remediation: 'Send bytes as binary messages, and only the messages of the protocol as text.',
  },
  STREAM_TICKET_INVALID: {
    fault: 'caller',
    status: 403,
    when: 'The signed address of a byte stream is wrong, used up or older than its time to live.',
    remediation: 'Ask for a new one; tickets are valid for a minute.',
  },
});
