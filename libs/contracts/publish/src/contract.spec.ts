import { describeContract } from '@inquest/contracts-shared/testing';
import * as contract from './index';

describeContract({
  scope: 'publish',
  operations: contract.publishOps,
  events: contract.publishEvents,
  exports: { ...contract },
});
