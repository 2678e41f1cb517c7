export type { ApiReply, DoubleBehaviour } from './double-api';
export type { DoubleRepository } from './double-repositories';
export { GiteaDouble, type DoubleFault, type DoubleToken, type GiteaDoubleOptions } from './gitea-double';
