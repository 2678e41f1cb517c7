import { useParams } from 'react-router';
import type { PublicationView } from '@inquest/contracts-publish';
import { printable } from '@inquest/transcript';
import { usePublication } from '../api/publications';
import { Badge } from '../components/badge';
import { Facts } from '../components/facts';
import { Page, Section } from '../components/page';
import { QueryView } from '../components/query-view';
import { PUBLICATION_TONE } from '../components/tone';
import { HeldFiles } from './held-files';
import { publicationFacts } from './publication-facts';
import { PublicationSteps } from './publication-steps';
import { RetryButton } from './retry-button';
import { RulesNotice } from './rules-notice';

/** One publication: where it went, and what did not go with it. */
export function PublicationPage() {
  const { publicationId = '' } = useParams();
  const publication = usePublication(publicationId);
  const { data } = publication;
  return (
    <Page
      title={publicationId}
      parent={{ to: '/publications', title: 'Publications' }}
      mark={data && <Badge tone={PUBLICATION_TONE[data.state]}>{data.state}</Badge>}
    >
      <QueryView answer={publication} what={`publication ${publicationId}`}>
        {(view) => <Publication publication={view} />}
      </QueryView>
    </Page>
  );
}

function Publication({ publication }: { readonly publication: PublicationView }) {
  const { message, error, steps, held, heldCount, rulesProblem } = publication;
  return (
    <>
      <p className="page-note wrap">{printable(message)}</p>
      {error !== null && (
        <div className="notice" data-tone="bad">
          <p className="notice-title">{printable(error.message)}</p>
          <p>{error.remediation}</p>
        </div>
      )}
      <RetryButton publication={publication} />
      <Facts facts={publicationFacts(publication)} />
      <Section title="On the forge">
        <PublicationSteps steps={steps} />
      </Section>
      <Section title="Held back">
        <RulesNotice problem={rulesProblem} />
        <HeldFiles held={held} heldCount={heldCount} />
      </Section>
    </>
  );
}
