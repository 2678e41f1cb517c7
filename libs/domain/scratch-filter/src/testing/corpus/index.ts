import type { CorpusProject } from '../corpus-project';
import { OPERATIONS_PROJECTS } from './operations';
import { PYTHON_PROJECTS } from './python';
import { SYSTEMS_PROJECTS } from './systems';
import { WEB_PROJECTS } from './web';

/** The labelled projects. The labels say what a reviewer of the commit would want, not what the rules do. */
export const CORPUS: readonly CorpusProject[] = [
  ...PYTHON_PROJECTS,
  ...WEB_PROJECTS,
  ...SYSTEMS_PROJECTS,
  ...OPERATIONS_PROJECTS,
];
