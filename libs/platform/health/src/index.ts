export { healthError } from './errors';
export { type HealthOptions } from './health-options';
export { HealthModule } from './health.module';
export { Readiness, type CheckResult, type ReadinessCheck } from './readiness';
