import { parseDto } from '@inquest/config';
import { isDomainError, type DtoClass } from '@inquest/kernel';
import { notGitea } from './gitea-failure';

/** An answer of the documented shape; what else it says is dropped. Throws `FORGE_RESPONSE_INVALID`. */
export function parseAnswer<T extends object>(Answer: DtoClass<T>, body: unknown, request: string): T {
  try {
    return parseDto(Answer, body, { unknown: 'strip' });
  } catch (e) {
    throw notGitea(request, isDomainError(e) ? `has another shape: ${e.message}` : 'has another shape', e);
  }
}
