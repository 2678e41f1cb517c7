import type { CorpusProject } from '../corpus-project';
import { APPLICATION_PROJECTS } from './applications';
import { DATA_PROJECTS } from './data';
import { ECOSYSTEM_PROJECTS } from './ecosystems';
import { HABIT_PROJECTS } from './habits';
import { LANGUAGE_PROJECTS } from './languages';
import { LEAVINGS_PROJECTS } from './leavings';
import { MONOREPO_PROJECTS } from './monorepos';
import { OPERATIONS_PROJECTS } from './operations';
import { PYTHON_PROJECTS } from './python';
import { SCRIPT_PROJECTS } from './scripts';
import { SYSTEMS_PROJECTS } from './systems';
import { WEB_PROJECTS } from './web';

/** The labelled projects. The labels say what a reviewer of the commit would want, not what the rules do. */
export const CORPUS: readonly CorpusProject[] = [
  ...PYTHON_PROJECTS,
  ...WEB_PROJECTS,
  ...SYSTEMS_PROJECTS,
  ...OPERATIONS_PROJECTS,
  ...APPLICATION_PROJECTS,
  ...DATA_PROJECTS,
  ...LANGUAGE_PROJECTS,
  ...MONOREPO_PROJECTS,
  ...SCRIPT_PROJECTS,
  ...LEAVINGS_PROJECTS,
  ...ECOSYSTEM_PROJECTS,
  ...HABIT_PROJECTS,
];
