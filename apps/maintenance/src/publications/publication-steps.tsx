import type { PublicationStepView, StepState } from '@inquest/contracts-publish';
import { printable } from '@inquest/transcript';
import { Badge } from '../components/badge';
import type { Tone } from '../components/tone';
import { WebLink } from './web-link';

const STEP_TITLE: Readonly<Record<PublicationStepView['kind'], string>> = {
  'base-branch': 'Branch to merge into',
  'pull-request': 'Pull request',
  release: 'Release',
  topics: 'Topics',
};

const STEP_TONE: Readonly<Record<StepState, Tone>> = { pending: 'busy', done: 'good', failed: 'bad', skipped: 'quiet' };

/** What was done at the forge besides the push, each with what to do when it failed. */
export function PublicationSteps({ steps }: { readonly steps: readonly PublicationStepView[] }) {
  if (steps.length === 0) return <p className="absent">Nothing but the branch.</p>;
  return (
    <ul>
      {steps.map(({ kind, state, url, message, error }) => (
        <li key={kind}>
          {STEP_TITLE[kind]} <Badge tone={STEP_TONE[state]}>{state}</Badge>{' '}
          {url === null ? <span className="wrap">{printable(message)}</span> : <WebLink url={url} />}
          {error !== null && <p className="wrap">{error.remediation}</p>}
        </li>
      ))}
    </ul>
  );
}
