export { Metrics } from './metrics';
export { MetricsModule, type MetricsOptions } from './metrics.module';
