import type { VersionTemplateState, VersionTemplateView } from '@inquest/contracts-image';
import { printable } from '@inquest/transcript';

/** What each state means for whoever starts a machine. */
const MEANING: Readonly<Record<VersionTemplateState, string>> = {
  ready: 'ready: machines start as clones',
  making: 'being made: machines start cold',
  missing: 'missing: machines start cold',
  outdated: 'outdated: machines start cold',
  damaged: 'damaged: machines start cold',
  unsupported: 'not supported: machines start cold',
};

/** How the template of a version stands, node by node where they differ. */
export function templateText(templates: readonly VersionTemplateView[]): string {
  const [first, ...others] = templates;
  if (first === undefined) return '–';
  if (others.every(({ state }) => state === first.state)) return withReason(first);
  return templates.map((template) => `${template.node}: ${withReason(template)}`).join('; ');
}

const withReason = ({ state, detail }: VersionTemplateView): string =>
  detail === '' ? MEANING[state] : `${MEANING[state]} (${printable(detail)})`;
