import { describeContract } from '@inquest/contracts-base/testing';
import * as contract from './index';

describeContract({
  scope: 'publish',
  operations: contract.publishOps,
  events: contract.publishEvents,
  exports: { ...contract },
});
