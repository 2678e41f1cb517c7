import { defineErrors } from '@inquest/kernel';

const PEER_REMEDIATION =
  'The guest broke the link protocol: reset the machine and do not trust what it says about itself.';

/** Everything that the guest link and its client can throw, besides the codes of the frame protocol and the kernel. */
export const linkError = defineErrors({
  LINK_CLOSED: {
    fault: 'guest',
    status: 502,
    when: 'The link or one of its streams ended before the work on it was done: the machine or its agent is gone.',
    remediation: 'Ask for the verdict of the machine; the evidence tells how it ended.',
  },
  LINK_UNREACHABLE: {
    fault: 'infra',
    status: 503,
    when: 'The host socket of a link does not exist or nobody listens on it.',
    remediation: 'Check that the hypervisor of the machine runs and that its directory is intact.',
  },
  LINK_PORT_REFUSED: {
    fault: 'guest',
    status: 502,
    when: 'The peer answered a request for a port with a refusal.',
    remediation: 'Wait until the guest agent is up, or connect to a port that it serves.',
  },
  LINK_PORT_IN_USE: {
    fault: 'caller',
    status: 409,
    when: 'The host already listens on this port of the link.',
    remediation: 'Close the other listener first.',
  },
  LINK_PORT_INVALID: {
    fault: 'caller',
    status: 400,
    when: 'A port is not an integer from 1 to 4294967294.',
    remediation: 'Use a port of the guest protocol.',
  },
  LINK_HANDSHAKE_INVALID: {
    fault: 'guest',
    status: 502,
    when: 'The first line of a stream is too long, or neither a request nor an answer for a port.',
    remediation: PEER_REMEDIATION,
  },
  MUX_FRAME_INVALID: {
    fault: 'guest',
    status: 502,
    when: 'A yamux header has an unknown version, type or flag, or does not fit the state of its stream.',
    remediation: PEER_REMEDIATION,
  },
  MUX_WINDOW_EXCEEDED: {
    fault: 'guest',
    status: 502,
    when: 'The peer sends more than the receive window of a stream, or grants more than a window can hold.',
    remediation: PEER_REMEDIATION,
  },
  MUX_BACKLOG_EXCEEDED: {
    fault: 'guest',
    status: 502,
    when: 'The peer keeps asking for answers and does not read them.',
    remediation: PEER_REMEDIATION,
  },
  MUX_STREAM_RESET: {
    fault: 'guest',
    status: 502,
    when: 'The peer reset one stream; the others go on.',
    remediation: 'Ask again; when it repeats, the guest agent is overloaded or does not accept streams.',
  },
  MUX_STREAMS_EXHAUSTED: {
    fault: 'infra',
    status: 503,
    when: 'A session has used all its stream numbers (2^31).',
    remediation: 'Close the link and open it again.',
  },
  AGENT_ANSWER_LATE: {
    fault: 'guest',
    status: 504,
    when: 'The guest agent did not answer before the deadline of its op.',
    remediation:
      'Try again; when it repeats, look at the console log and the metrics of the machine: it may be overloaded or stopped.',
  },
  AGENT_NONCE_MISMATCH: {
    fault: 'guest',
    status: 502,
    when: 'The answer to a ping carries another nonce than was sent.',
    remediation: PEER_REMEDIATION,
  },
  TRANSFER_CORRUPTED: {
    fault: 'guest',
    status: 502,
    when: 'The data of a get does not have the size or the sha256 that the guest declares.',
    remediation: 'Get it again; what was received must not be used.',
  },
  TRANSFER_OVERSIZED: {
    fault: 'guest',
    status: 413,
    when: 'The data of a get is larger than the caller accepts.',
    remediation: 'Exclude what is not needed, or raise the limit.',
  },
});
