export { describeContract, type ContractUnderTest } from './describe-contract';
