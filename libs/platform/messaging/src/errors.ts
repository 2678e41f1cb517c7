import { defineErrors } from '@inquest/kernel';

/** What can go wrong between two services on NATS. */
export const messagingError = defineErrors({
  RPC_NO_RESPONDER: {
    fault: 'infra',
    status: 503,
    when: 'No service that is connected to NATS answers this subject.',
    remediation: 'Check with `vmctl status` that the service in the message runs, then try again.',
  },
  RPC_TIMEOUT: {
    fault: 'infra',
    status: 504,
    when: 'A service took the request but did not answer in time; whether it did the work is unknown.',
    remediation: 'Look at the state of the object before trying again; the log of the service has the trace id.',
  },
  RPC_REPLY_INVALID: {
    fault: 'infra',
    status: 502,
    when: 'A reply does not have the shape that the contract promises.',
    remediation: 'Check that both services are of versions that work together.',
  },
  RPC_REPLY_OVERSIZED: {
    fault: 'infra',
    status: 502,
    when: 'A reply is larger than NATS carries, so it was not sent.',
    remediation: 'Ask for less at once (a smaller page or byte limit), or open a stream for bulk data.',
  },
  RPC_REQUEST_OVERSIZED: {
    fault: 'caller',
    status: 413,
    when: 'A request is larger than NATS carries, so it was not sent.',
    remediation: 'Send less at once, or open a stream for bulk data.',
  },
  RPC_DISCONNECTED: {
    fault: 'infra',
    status: 503,
    when: 'The service has no connection to NATS at the moment; the request was not sent.',
    remediation: 'Try again in a few seconds: it reconnects by itself once nats-server is back.',
  },
  RPC_NODE_MISSING: {
    fault: 'infra',
    status: 500,
    when: 'A call that belongs to one node was made without naming the node; it was not sent.',
    remediation: 'Pass the node of the machine id; this is a defect of the calling service.',
  },
  RPC_SERVER_BUSY: {
    fault: 'infra',
    status: 503,
    when: 'The service already works on as many requests as it takes at once; this one was not begun.',
    remediation: 'Try again after a moment.',
  },
  RPC_SERVER_STOPPING: {
    fault: 'infra',
    status: 503,
    when: 'The service was told to stop and could not finish this request in time.',
    remediation: 'Look at the state of the object, then try again once the service is back.',
  },
  EVENT_OVERSIZED: {
    fault: 'infra',
    status: 500,
    when: 'An event is larger than the event stream takes, so it was not recorded.',
    remediation: 'Shorten its texts; bulk data does not belong into events.',
  },
  EVENT_NOT_STORED: {
    fault: 'infra',
    status: 503,
    when: 'The event stream did not confirm that it stored an event.',
    remediation: 'Publish it again with the same message id: it is stored once.',
  },
});
