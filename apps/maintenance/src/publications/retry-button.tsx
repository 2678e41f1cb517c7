import { Button } from 'react-aria-components';
import type { PublicationView } from '@inquest/contracts-publish';
import { useRetryPublication } from '../api/publications';
import { ProblemNotice } from '../components/notice';

/** Tries a failed publication again. What is published already is never pushed twice. */
export function RetryButton({ publication: { publicationId, state } }: { readonly publication: PublicationView }) {
  const retry = useRetryPublication(publicationId);
  if (state !== 'failed') return null;
  return (
    <>
      {retry.error !== null && <ProblemNotice error={retry.error} />}
      <div className="actions">
        <Button className="button primary" isDisabled={retry.isPending} onPress={() => retry.mutate()}>
          {retry.isPending ? 'Publishing …' : 'Try again'}
        </Button>
      </div>
    </>
  );
}
