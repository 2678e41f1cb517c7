import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { coerceStrings, parseDto, type StringValues } from '@inquest/config';
import type { DtoClass } from '@inquest/kernel';

const BUILT_IN: readonly unknown[] = [String, Number, Boolean, Array, Object, Date, Buffer];

/**
 * Turns bodies, queries and path parameters into validated instances of their DTO class; throws `INPUT_INVALID`. The
 * strings of queries and path parameters become what the class declares. Single parameters without a class pass.
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'custom' || data !== undefined || !isDto(metatype)) return value;
    if (type === 'body') return parseDto(metatype, value ?? {});
    // Express 5 gives a query without prototype.
    return parseDto(metatype, coerceStrings(metatype, (value ?? {}) as StringValues));
  }
}

function isDto(metatype: ArgumentMetadata['metatype']): metatype is DtoClass {
  return metatype !== undefined && !BUILT_IN.includes(metatype) && !isStream(metatype);
}

/** A request or response object that a controller asked for by class is no DTO. */
const isStream = (metatype: NonNullable<ArgumentMetadata['metatype']>): boolean =>
  typeof (metatype.prototype as { pipe?: unknown } | undefined)?.pipe === 'function';
