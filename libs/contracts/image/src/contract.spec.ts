import { describeContract } from '@inquest/contracts-base/testing';
import * as contract from './index';

describeContract({
  scope: 'image',
  operations: contract.imageOps,
  events: contract.imageEvents,
  exports: { ...contract },
});
