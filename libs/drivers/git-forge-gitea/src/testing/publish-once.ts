// A publisher that may be killed at any moment: everything for one project, by the forge that its arguments name.
import { GiteaForge } from '../gitea-forge';

const [url = '', tokenFile = '', repositoryPath = '', project = '', first = '', second = '', artifactPath = '', size] =
  process.argv.slice(2);
const never = new AbortController().signal;

async function publishEverything(): Promise<void> {
  const forge = new GiteaForge({ url, owner: 'robot', tokenFile });
  await forge.ensureRepository(project, never);
  await forge.push({ repositoryPath, project, branch: 'main', commit: first }, never);
  await forge.push({ repositoryPath, project, branch: 'inquest/s-1', commit: second }, never);
  const pullRequest = { title: 'Work', body: 'Done. (publication-1)', marker: 'publication-1' };
  await forge.openPullRequest({ project, head: 'inquest/s-1', base: 'main', ...pullRequest }, never);
  const artifacts = [{ name: 'work.tar', filePath: artifactPath, sizeBytes: Number(size) }];
  await forge.publishRelease({ project, tag: 'v1', commit: second, title: 'One', notes: '', artifacts }, never);
}

void publishEverything().finally(() => process.disconnect());
