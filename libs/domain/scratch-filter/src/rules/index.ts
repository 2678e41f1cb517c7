import type { ScratchRule } from '../scratch-rule';
import { AGENT_FILE_RULES, AGENT_PATH_RULES } from './agent-files';
import { DIRECTORY_RULES, MARKER_RULES } from './directories';
import { DERIVED_FILE_RULES, DROPPING_CONTENT_RULES, DROPPING_PATH_RULES, DROPPING_RULES } from './droppings';
import { SECRET_CONTENT_RULES, SECRET_NAME_RULES, SECRET_PATH_RULES } from './secrets';
import { THROWAWAY_RULES, UNNAMED_RULES } from './throwaway';

/** The rules that hold without being asked for, in the order in which they are tried: the first match is reported. */
export const DEFAULT_RULES: readonly ScratchRule[] = [
  ...DIRECTORY_RULES,
  ...MARKER_RULES,
  ...SECRET_PATH_RULES,
  ...SECRET_NAME_RULES,
  ...SECRET_CONTENT_RULES,
  ...DROPPING_PATH_RULES,
  ...DROPPING_RULES,
  ...DERIVED_FILE_RULES,
  ...DROPPING_CONTENT_RULES,
  ...AGENT_PATH_RULES,
  ...AGENT_FILE_RULES,
  ...THROWAWAY_RULES,
  ...UNNAMED_RULES,
];
