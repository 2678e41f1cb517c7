import { imageError } from '@inquest/contracts-image';
import type { DomainError } from '@inquest/kernel';
import type { ImageVersionEntity } from './image-version.entity';

// One place for each refusal that several parts say about an image.

export const imageUnknown = (name: string): DomainError =>
  imageError(
    'IMAGE_UNKNOWN',
    `no image "${name}" is known; \`vmctl image build ${name}\` builds it if it has a recipe`,
    { image: name },
  );

/** A verify found that a frozen version is not what was frozen; `message` says how. */
export const imageChanged = ({
  name,
  version,
  message,
}: Pick<ImageVersionEntity, 'name' | 'version' | 'message'>): DomainError =>
  imageError('IMAGE_CHANGED', `image ${name}:${version} cannot be started: ${message}`, { image: name, version });
