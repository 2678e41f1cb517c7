import { describeContract } from '@inquest/contracts-shared/testing';
import * as contract from './index';

describeContract({
  scope: 'agent',
  operations: contract.agentOps,
  events: contract.agentEvents,
  exports: { ...contract },
});
