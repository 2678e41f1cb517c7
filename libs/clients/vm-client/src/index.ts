export { chooseNode } from './choose-node';
export { VmClient } from './vm-client';
export { fetchPicture } from './fetch-picture';
