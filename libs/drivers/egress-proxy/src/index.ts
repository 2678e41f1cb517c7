export { DEFAULT_EGRESS_LIMITS, type EgressLimits } from './egress-limits';
export { EGRESS_PORT, EgressProxy, type EgressProxyOptions } from './egress-proxy';
export {
  EGRESS_VERDICTS,
  EGRESS_WAYS,
  type EgressRecord,
  type EgressRecorder,
  type EgressVerdict,
  type EgressWay,
} from './egress-record';
export { HOST_NETWORK, type HostNetwork } from './host-network';
export { Internet, type InternetOptions } from './internet';
export { LOCAL_MODEL_PORT, LocalModelPipe, type LocalModelPipeOptions, type ModelEndpoint } from './local-model-pipe';
