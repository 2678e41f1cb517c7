import { defineErrors } from '@inquest/kernel';

/** What the QMP client can throw, besides the kernel's `OPERATION_ABORTED`. */
export const qmpError = defineErrors({
  QMP_CLOSED: {
    fault: 'infra',
    status: 502,
    when: 'The connection to the machine monitor is closed, or closed before the command was answered.',
    remediation: 'The machine has most likely ended: look at its exit and its verdict.',
  },
  QMP_TIMEOUT: {
    fault: 'infra',
    status: 504,
    when: 'The machine monitor did not greet, or did not answer a command, before the deadline.',
    remediation: 'A stopped or starved monitor does not answer; look at the load of the host, or destroy the machine.',
  },
  QMP_COMMAND_FAILED: {
    fault: 'infra',
    status: 502,
    when: 'The machine monitor refused a command; the message has its own words.',
    remediation: 'Check that the state of the machine allows the command, and that this monitor version has it.',
  },
  QMP_PROTOCOL_INVALID: {
    fault: 'infra',
    status: 502,
    when: 'The machine monitor sent something that is not QMP: no JSON object, a line over the limit, or a wrong greeting.',
    remediation: 'The connection was closed; destroy the machine, and check that the socket belongs to a QMP monitor.',
  },
});
