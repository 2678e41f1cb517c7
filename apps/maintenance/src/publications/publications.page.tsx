import { useForge, usePublications } from '../api/publications';
import { Badge } from '../components/badge';
import { MoreButton } from '../components/more-button';
import { EmptyState } from '../components/notice';
import { Page } from '../components/page';
import { QueryView } from '../components/query-view';
import { RecordCard, RecordList } from '../components/record-list';
import { PUBLICATION_TONE } from '../components/tone';
import { count } from '../text/phrases';
import { publicationFacts } from './publication-facts';
import { RetryButton } from './retry-button';

/** Publications, newest first, and the forge they go to. */
export function PublicationsPage() {
  const publications = usePublications();
  return (
    <Page title="Publications">
      <ForgeNote />
      <QueryView answer={publications} what="publications">
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          return items.length === 0 ? (
            <EmptyState title="Nothing was published yet">
              <p>A session that commits something publishes it when it is closed.</p>
            </EmptyState>
          ) : (
            <>
              <RecordList label="Publications">
                {items.map((publication) => (
                  <RecordCard
                    key={publication.publicationId}
                    title={publication.publicationId}
                    to={`/publications/${publication.publicationId}`}
                    mark={<Badge tone={PUBLICATION_TONE[publication.state]}>{publication.state}</Badge>}
                    summary={publication.message}
                    facts={[
                      ...publicationFacts(publication),
                      { label: 'Held back', value: count(publication.heldCount, 'file') },
                    ]}
                  >
                    <RetryButton publication={publication} />
                  </RecordCard>
                ))}
              </RecordList>
              <MoreButton {...publications} />
            </>
          );
        }}
      </QueryView>
    </Page>
  );
}

function ForgeNote() {
  const { data } = useForge();
  return (
    <p className="page-note" role="status">
      {data === undefined ? (
        'Asking the forge …'
      ) : (
        <>
          Forge {data.forge}:{' '}
          <Badge tone={data.isUsable ? 'good' : 'bad'}>{data.isUsable ? 'usable' : 'not usable'}</Badge> {data.message}
        </>
      )}
    </p>
  );
}
