export { ALLOWED_SCRIPTS } from './allowed-scripts';
export { REFUSED_SCRIPTS } from './refused-scripts';
export { hostileScripts } from './hostile-scripts';
