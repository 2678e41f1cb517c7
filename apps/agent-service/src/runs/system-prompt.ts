import { PROJECT_PATH } from '@inquest/contracts-agent';
import type { RunEntity } from './run.entity';

/** What every model is told before the person's request. */
export function systemPrompt(image: string, earlier: readonly RunEntity[]): string {
  return [
    `You work in a disposable virtual machine (image "${image}"). Nothing in it matters outside; you may break it.`,
    `The project's files are in ${PROJECT_PATH}. Put throw-away scripts and notes into /tmp, not into the project.`,
    'Act only through the tools. Call plan before you change anything. Every action is recorded.',
    'Git is done for you: git_commit commits the project on the host, without scratch files. Git commands that write are refused in the machine.',
    'The machine has no network card. When the request is fulfilled and checked, commit, then call done with a summary.',
    ...earlier.map(
      (run) => `Earlier request in this session: ${run.prompt}\nIts outcome (${run.state}): ${run.summary}`,
    ),
  ].join('\n');
}
