import { noVagueName } from './no-vague-name.mjs';
import { testTitleStatesFact } from './test-title-states-fact.mjs';

/** The workspace's own rules, as an ESLint plugin. */
export const inquestRules = {
  meta: { name: 'inquest' },
  rules: { 'no-vague-name': noVagueName, 'test-title-states-fact': testTitleStatesFact },
};
