export type { ApiReply, DoubleBehaviour } from './double-api';
export { endPull, updatesOf, type DoubleRepository } from './double-repositories';
export { GiteaDouble, type DoubleFault, type DoubleToken, type GiteaDoubleOptions } from './gitea-double';
export { TOKEN } from './gitea-fixture';
export { makeTokenFile } from './project-repository';
export { seeProcesses, tokenFormsIn, type SeenProcess } from './token-sightings';
