export {
  CommitRequest,
  CommitView,
  HeldView,
  MAX_LISTED_PATHS,
  ProjectRequest,
  ProjectView,
  StagedView,
  StageProjectRequest,
} from './commit.contract';
export {
  ListPublicationsRequest,
  MAX_RELEASE_ARTIFACTS,
  PUBLICATION_STATES,
  PUBLICATION_STEPS,
  PublicationChanged,
  PublicationList,
  PublicationRequest,
  PublicationStepView,
  PublicationView,
  PublishRequest,
  ReleaseRequest,
  ReleaseView,
  RetryOptions,
  RetryRequest,
  STEP_STATES,
  type PublicationState,
  type PublicationStepKind,
  type StepState,
} from './publication.contract';
export { ForgeCheckView, publishEvents, publishOps } from './publish.contract';
export { publishError } from './publish.errors';
export {
  CensusVerb,
  MAX_CENSUS_VERBS,
  SESSION_SUMMARY_LENGTH,
  SessionCensus,
  SessionReport,
  SessionVerdict,
} from './session-report';
