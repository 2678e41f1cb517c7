import { gitForgeError } from '@inquest/git-forge';
import { TopicsAnswer } from './gitea-answers';
import type { GiteaClient } from './gitea-client';
import type { GiteaRepository } from './gitea-repositories';
import { readBack, type Patience } from './patience';

// A page of topics; more than 25 cannot be set.
const LIMIT = 50;

/** Topics of repositories. */
export class GiteaTopics {
  constructor(
    private readonly client: GiteaClient,
    private readonly patience: Patience,
  ) {}

  /** The list is replaced as a whole at Gitea, so what is there is sent again, and again until it reads back. */
  async add({ owner, name }: GiteaRepository, topics: readonly string[], signal: AbortSignal): Promise<void> {
    const path = ['repos', owner, name, 'topics'];
    const missing = async (): Promise<readonly string[]> => {
      const answer = await this.client.object(TopicsAnswer, { method: 'GET', path, query: { limit: LIMIT } }, signal);
      const absent = topics.filter((topic) => !answer.topics.includes(topic));
      if (absent.length > 0) {
        const json = { topics: [...answer.topics, ...absent] };
        await this.client.request({ method: 'PUT', path, json }, signal);
      }
      return absent;
    };
    const absent = await readBack(missing, ({ length }) => length === 0, this.patience, signal);
    if (absent.length === 0) return;
    const message = `the topics ${absent.join(', ')} of ${owner}/${name} were accepted, but are not shown`;
    throw gitForgeError('FORGE_CHANGE_UNVERIFIED', message, { repository: `${owner}/${name}` });
  }
}
