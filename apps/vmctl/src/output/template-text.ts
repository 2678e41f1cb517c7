import type { VersionTemplateState, VersionTemplateView } from '@inquest/contracts-image';
import { printableLine } from '@inquest/transcript';

/** What each state means for whoever starts a machine. */
const MEANING: Readonly<Record<VersionTemplateState, string>> = {
  ready: 'ready (machines start as clones)',
  making: 'being made (machines start cold)',
  missing: 'missing (machines start cold)',
  outdated: 'outdated (machines start cold)',
  damaged: 'damaged (machines start cold)',
  unsupported: 'not supported (machines start cold)',
};

/** How the template of a version stands: in one word where all nodes agree, else node by node, with the reasons. */
export function templateText(templates: readonly VersionTemplateView[]): string {
  const [first, ...others] = templates;
  if (first === undefined) return '-';
  if (others.every(({ state }) => state === first.state)) return withReason(first);
  return templates.map((template) => `${printableLine(template.node)} ${withReason(template)}`).join('; ');
}

const withReason = ({ state, detail }: VersionTemplateView): string =>
  detail === '' ? MEANING[state] : `${MEANING[state]}: ${printableLine(detail)}`;
