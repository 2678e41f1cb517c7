import { PROJECT_PATH } from '@inquest/contracts-agent';
import { cutText } from '@inquest/contracts-base';
import type { RunEntity } from './run.entity';

/** How many earlier runs of the session a model is told of. */
export const REMEMBERED_RUNS = 10;
/** Characters of each of their texts: the machine's state says the rest. */
const REMEMBERED_TEXT_LENGTH = 2_000;

/** What every model is told before the person's request. */
export function systemPrompt(image: string, earlier: readonly RunEntity[]): string {
  return [
    `You work in a disposable virtual machine (image "${image}"). Nothing in it matters outside; you may break it.`,
    `The project's files are in ${PROJECT_PATH}. Put throw-away scripts and notes into /tmp, not into the project.`,
    'Act only through the tools. Call plan before you change anything. Every action is recorded.',
    'Git is done for you: git_commit commits the project on the host, without scratch files. Git commands that write are refused in the machine.',
    'The machine has no network card; check_internet says what it can reach all the same. When the request is fulfilled and checked, commit, then call done with a summary.',
    ...earlier.map(describeRun),
  ].join('\n');
}

function describeRun({ prompt, state, summary, error }: RunEntity): string {
  const outcome = summary === '' ? (error?.message ?? 'no summary') : summary;
  const [asked, told] = [prompt, outcome].map((text) => cutText(text, REMEMBERED_TEXT_LENGTH));
  return `Earlier request in this session: ${asked}\nIts outcome (${state}): ${told}`;
}
