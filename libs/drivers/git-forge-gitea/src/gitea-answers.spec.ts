import type {
  Attachment,
  Branch,
  PullRequest,
  Release,
  Repository,
  ServerVersion,
  Tag,
  TopicName,
  User,
} from 'gitea-js';
import { parseDto } from '@inquest/config';
import {
  AttachmentAnswer,
  BranchAnswer,
  PullRequestAnswer,
  ReleaseAnswer,
  RepositoryAnswer,
  TagAnswer,
  TopicsAnswer,
  UserAnswer,
  VersionAnswer,
} from './gitea-answers';

/** Every property, at every depth, as Gitea's API document has it: there all of them are optional. */
type Documented<T> = T extends readonly (infer Item)[]
  ? readonly Documented<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]-?: Documented<NonNullable<T[Key]>> }
    : T;

/** Fails the type check when an answer has a property that the document lacks or types otherwise. */
const isDocumented = <Answer, Document extends object>(
  ..._proof: Documented<Required<Document>> extends Documented<Answer> ? [] : [never]
): boolean => true;

const COMMIT = '1'.repeat(40);
const repository = {
  id: 1,
  name: 'demo',
  owner: { login: 'ana' },
  archived: false,
  mirror: false,
  permissions: { push: true },
};

describe('the answers of Gitea', () => {
  it('have the properties that its API document gives', () => {
    expect([
      isDocumented<UserAnswer, User>(),
      isDocumented<VersionAnswer, ServerVersion>(),
      isDocumented<RepositoryAnswer, Repository>(),
      isDocumented<BranchAnswer, Branch>(),
      isDocumented<TagAnswer, Tag>(),
      isDocumented<PullRequestAnswer, PullRequest>(),
      isDocumented<AttachmentAnswer, Attachment>(),
      isDocumented<ReleaseAnswer, Release>(),
      isDocumented<TopicsAnswer, { topics?: TopicName['topics'] }>(),
    ]).not.toContain(false);
  });

  it('may say more than is used', () => {
    expect(parseDto(RepositoryAnswer, { ...repository, stars_count: 3 }, { unknown: 'strip' })).toEqual(repository);
  });

  it.each([
    ['a repository without an owner', RepositoryAnswer, { ...repository, owner: undefined }],
    ['a repository whose name is a path', RepositoryAnswer, { ...repository, name: '../evil' }],
    ['a repository whose owner is a path', RepositoryAnswer, { ...repository, owner: { login: '..' } }],
    ['a branch without a commit', BranchAnswer, { name: 'main' }],
    ['a branch whose commit is a name', BranchAnswer, { commit: { id: 'HEAD' } }],
    ['a release whose files are no list', ReleaseAnswer, { id: 1, tag_name: 'v1', draft: false, assets: {} }],
    ['a file of negative size', AttachmentAnswer, { id: 1, name: 'x', size: -1 }],
    ['topics that are no text', TopicsAnswer, { topics: [1] }],
  ] as const)('are refused: %s', (_, Answer, value) => {
    expect(() => parseDto<object>(Answer, value, { unknown: 'strip' })).toThrow(
      expect.objectContaining({ code: 'INPUT_INVALID' }),
    );
  });

  it('are accepted when they are whole', () => {
    expect(parseDto(BranchAnswer, { commit: { id: COMMIT } }, { unknown: 'strip' }).commit.id).toBe(COMMIT);
  });
});
