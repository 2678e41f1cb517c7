export { CircuitBreaker, type CircuitBreakerOptions } from './circuit-breaker';
export { addressFault } from './gitea-address';
export { GiteaForge, type GiteaForgeOptions } from './gitea-forge';
export { type Patience } from './patience';
