import { imageError } from '@inquest/contracts-image';
import type { DomainError } from '@inquest/kernel';

// One place for the three ways in which the content of an import is refused.

/** It is cut, damaged or of another format. */
export const invalidSource = (message: string, cause?: unknown): DomainError =>
  imageError('IMAGE_SOURCE_INVALID', message, {}, cause);

/** It reaches outside of itself. */
export const unsafeSource = (message: string): DomainError => imageError('IMAGE_SOURCE_UNSAFE', message);

/** It is larger than is allowed. */
export const oversizedSource = (what: string, limitBytes: number): DomainError =>
  imageError('IMAGE_SOURCE_OVERSIZED', `${what} is larger than the ${limitBytes} bytes that an image may have`, {
    limitBytes,
  });
