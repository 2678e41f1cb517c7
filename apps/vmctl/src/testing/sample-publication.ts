import { PublicationView } from '@inquest/contracts-publish';
import { dto } from '@inquest/contracts-base';

export const COMMIT = 'c'.repeat(40);

/** A publication that succeeded. */
export const samplePublication = (more: Partial<PublicationView> = {}): PublicationView =>
  dto(PublicationView, {
    publicationId: 'pub-1',
    sessionId: 'ses-1',
    project: 'demo',
    state: 'published',
    forge: 'gitea',
    branch: 'inquest/ses-1',
    baseBranch: 'main',
    commit: COMMIT,
    url: 'https://git.example.org/robot/demo',
    isVerified: true,
    message: 'published to gitea and read back',
    error: null,
    attempts: 1,
    heldCount: 0,
    held: [],
    createdAtMs: 0,
    publishedAtMs: 0,
    ...more,
  });
