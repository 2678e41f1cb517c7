import { parseId } from '@inquest/kernel';
import { gitForgeError } from './errors';
import type { PullRequestRequest, ReleaseRequest } from './forge-capabilities';
import { checkBranch, checkCommitId } from './push-request';

// The narrowest of what forges take: Gitea keeps titles in 255 characters and cuts nothing by itself.
const MAX_TITLE_LENGTH = 255;
// Shorter ones stand in the bodies of others by chance.
const MIN_MARKER_LENGTH = 8;
const MAX_TEXT_LENGTH = 65_536;
const MAX_ARTIFACTS = 100;
const ARTIFACT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const MAX_TOPICS = 25;
const TOPIC = /^[a-z0-9][a-z0-9-]{0,34}$/;
const LINE_BREAK_OR_NUL = /[\r\n\0]/;

/** Throws `ID_INVALID`, `FORGE_BRANCH_INVALID` or `FORGE_REQUEST_INVALID`. */
export function checkPullRequest({ project, head, base, title, body, marker }: PullRequestRequest): void {
  parseId(project, 'project');
  checkBranch(project, head);
  checkBranch(project, base);
  if (head === base) throw invalid(project, `branch ${head} cannot be merged into itself`);
  checkTitle(project, title);
  checkText(project, 'body', body);
  if (marker.length < MIN_MARKER_LENGTH || marker.length > MAX_TITLE_LENGTH || !body.includes(marker)) {
    throw invalid(
      project,
      `the marker of a pull request is a text of its body, of ${MIN_MARKER_LENGTH} to ${MAX_TITLE_LENGTH} characters`,
    );
  }
}

/** Throws `ID_INVALID`, `FORGE_BRANCH_INVALID` for the tag, `FORGE_COMMIT_UNKNOWN` or `FORGE_REQUEST_INVALID`. */
export function checkRelease({ project, tag, commit, title, notes, artifacts }: ReleaseRequest): void {
  parseId(project, 'project');
  checkBranch(project, tag);
  checkCommitId(project, commit);
  checkTitle(project, title);
  checkText(project, 'notes', notes);
  if (artifacts.length > MAX_ARTIFACTS) throw invalid(project, `a release has at most ${MAX_ARTIFACTS} artifacts`);
  for (const { name, sizeBytes } of artifacts) {
    if (!ARTIFACT_NAME.test(name)) throw invalid(project, `${shown(name)} is not a name for an artifact`);
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw invalid(project, `artifact ${name} has no valid size`);
  }
  if (new Set(artifacts.map(({ name }) => name)).size < artifacts.length) {
    throw invalid(project, 'two artifacts of the release have the same name');
  }
}

/** Throws `ID_INVALID` or `FORGE_REQUEST_INVALID`. */
export function checkTopics(project: string, topics: readonly string[]): void {
  parseId(project, 'project');
  if (topics.length > MAX_TOPICS) throw invalid(project, `a project has at most ${MAX_TOPICS} topics`);
  const wrong = topics.find((topic) => !TOPIC.test(topic));
  if (wrong !== undefined) throw invalid(project, `${shown(wrong)} is not a topic`);
}

function checkTitle(project: string, title: string): void {
  if (title.trim() === '' || title.length > MAX_TITLE_LENGTH || LINE_BREAK_OR_NUL.test(title)) {
    throw invalid(project, `the title must be one line of 1 to ${MAX_TITLE_LENGTH} characters`);
  }
}

function checkText(project: string, property: string, text: string): void {
  if (text.length > MAX_TEXT_LENGTH || text.includes('\0')) {
    throw invalid(project, `the ${property} must be at most ${MAX_TEXT_LENGTH} characters without NUL`);
  }
}

const shown = (value: string): string => JSON.stringify(value.slice(0, 80));

const invalid = (project: string, why: string) =>
  gitForgeError('FORGE_REQUEST_INVALID', `for project ${project}: ${why}`, { project });
