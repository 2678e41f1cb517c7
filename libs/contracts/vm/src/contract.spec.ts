import { describeContract } from '@inquest/contracts-base/testing';
import * as contract from './index';

describeContract({ scope: 'vm', operations: contract.vmOps, events: contract.vmEvents, exports: { ...contract } });
