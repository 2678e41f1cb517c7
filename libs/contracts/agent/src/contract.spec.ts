import { describeContract } from '@inquest/contracts-base/testing';
import * as contract from './index';

describeContract({
  scope: 'agent',
  operations: contract.agentOps,
  events: contract.agentEvents,
  exports: { ...contract },
});
