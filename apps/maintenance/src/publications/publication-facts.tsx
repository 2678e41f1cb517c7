import { Link } from 'react-router';
import type { PublicationView } from '@inquest/contracts-publish';
import { printable } from '@inquest/transcript';
import { Ago } from '../components/age';
import { Badge } from '../components/badge';
import { Facts, type Fact } from '../components/facts';
import { PUBLICATION_TONE } from '../components/tone';
import { moment } from '../text/phrases';
import { HeldFiles } from './held-files';
import { PublicationSteps } from './publication-steps';
import { RulesNotice } from './rules-notice';
import { WebLink } from './web-link';

/** A commit at a glance, as git shows it in a large repository. */
const SHORT_COMMIT = 12;

/** What a publication is, for a card or a page. */
export const publicationFacts = (publication: PublicationView): Fact[] => {
  const {
    project,
    sessionId,
    forge,
    branch,
    commit,
    url,
    isVerified,
    attempts,
    nextAttemptAtMs,
    createdAtMs,
    publishedAtMs,
  } = publication;
  return [
    { label: 'Project', value: project },
    { label: 'Session', value: <Link to={`/sessions/${sessionId}`}>{sessionId}</Link> },
    { label: 'Commit', value: <code title={commit}>{commit.slice(0, SHORT_COMMIT)}</code> },
    { label: 'Branch', value: <span className="wrap">{branch}</span> },
    { label: 'Forge', value: forge },
    { label: 'Read back', value: isVerified ? 'yes, its branch is this commit' : 'no' },
    { label: 'Asked for', value: <Ago atMs={createdAtMs} /> },
    { label: 'Published', value: publishedAtMs === null ? 'no' : <Ago atMs={publishedAtMs} /> },
    { label: 'Attempts', value: attempts },
    ...(nextAttemptAtMs === null ? [] : [{ label: 'Tried again', value: moment(nextAttemptAtMs) }]),
    { label: 'Where', value: url === null ? 'nowhere yet' : <WebLink url={url} />, isWide: true },
  ];
};

/** A publication inside another page. */
export function PublicationFacts({ publication }: { readonly publication: PublicationView }) {
  const { publicationId, state, message, steps, held, heldCount, rulesProblem } = publication;
  return (
    <div className="publication">
      <p>
        <Badge tone={PUBLICATION_TONE[state]}>{state}</Badge>{' '}
        <Link to={`/publications/${publicationId}`}>{publicationId}</Link>
      </p>
      <p className="wrap">{printable(message)}</p>
      <Facts facts={publicationFacts(publication)} />
      {steps.length > 0 && <PublicationSteps steps={steps} />}
      <RulesNotice problem={rulesProblem} />
      <HeldFiles held={held} heldCount={heldCount} />
    </div>
  );
}
