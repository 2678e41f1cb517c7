export { BareGitForge } from './bare-git-forge';
