import { describeContract } from '@inquest/contracts-shared/testing';
import * as contract from './index';

describeContract({
  scope: 'image',
  operations: contract.imageOps,
  events: contract.imageEvents,
  exports: { ...contract },
});
