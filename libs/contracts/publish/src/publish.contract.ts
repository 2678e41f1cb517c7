import { IsBoolean } from 'class-validator';
import { event, operation } from '@inquest/kernel';
import { Empty, IsText } from '@inquest/contracts-base';
import {
  CommitRequest,
  CommitView,
  ProjectRequest,
  ProjectView,
  StagedView,
  StageProjectRequest,
} from './commit.contract';
import {
  ListPublicationsRequest,
  PublicationChanged,
  PublicationList,
  PublicationRequest,
  PublicationView,
  PublishRequest,
  ReleaseRequest,
  RetryRequest,
} from './publication.contract';

/** Whether publishing would work now. */
export class ForgeCheckView {
  @IsText(32) readonly forge!: string;
  @IsBoolean() readonly isUsable!: boolean;
  @IsText(2048) readonly message!: string;
}

const SUBJECT = 'inquest.v1.cmd.publish';

/** The calls that publish-service answers. */
export const publishOps = {
  ensureProject: operation({
    subject: `${SUBJECT}.ensure-project`,
    request: ProjectRequest,
    response: ProjectView,
    timeoutMs: 15_000,
  }),
  showProject: operation({
    subject: `${SUBJECT}.show-project`,
    request: ProjectRequest,
    response: ProjectView,
    timeoutMs: 5_000,
  }),
  stageProject: operation({
    subject: `${SUBJECT}.stage-project`,
    request: StageProjectRequest,
    response: StagedView,
    timeoutMs: 300_000,
  }),
  commit: operation({ subject: `${SUBJECT}.commit`, request: CommitRequest, response: CommitView, timeoutMs: 300_000 }),
  publish: operation({
    subject: `${SUBJECT}.publish`,
    request: PublishRequest,
    response: PublicationView,
    timeoutMs: 120_000,
  }),
  list: operation({
    subject: `${SUBJECT}.list`,
    request: ListPublicationsRequest,
    response: PublicationList,
    timeoutMs: 5_000,
  }),
  show: operation({
    subject: `${SUBJECT}.show`,
    request: PublicationRequest,
    response: PublicationView,
    timeoutMs: 5_000,
  }),
  retry: operation({
    subject: `${SUBJECT}.retry`,
    request: RetryRequest,
    response: PublicationView,
    timeoutMs: 120_000,
  }),
  release: operation({
    subject: `${SUBJECT}.release`,
    request: ReleaseRequest,
    response: PublicationView,
    timeoutMs: 120_000,
  }),
  checkForge: operation({
    subject: `${SUBJECT}.check-forge`,
    request: Empty,
    response: ForgeCheckView,
    timeoutMs: 30_000,
  }),
} as const;

/** `inquest.v1.evt.publish.publication-changed.<publicationId>` */
export const publishEvents = {
  publicationChanged: event({ subject: 'inquest.v1.evt.publish.publication-changed', body: PublicationChanged }),
} as const;
