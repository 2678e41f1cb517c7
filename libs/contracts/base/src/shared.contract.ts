import { IsIn, IsInt, IsObject, IsOptional, IsString, IsUrl, MaxLength } from 'class-validator';
import type { ErrorBody, ErrorDetails, Fault } from '@inquest/kernel';
import { dto, IsId, IsNested, IsText, IsTimeMs, IsWhole, Nullable } from './fields';

/** A request without properties. */
export class Empty {}

/** Cursor paging of every listing. */
export class PageRequest {
  /** Items per page. */
  @IsWhole(1, 200) readonly limit: number = 50;
  /** `nextToken` of the page before; null for the first page. */
  @Nullable() @IsText(512) readonly nextToken: string | null = null;
}

/** A short-lived permission to open one byte stream at a service, handed out in a NATS reply. */
export class StreamTicket {
  /** Full URL with its signature; whoever holds it may use it until it expires. Never logged. */
  @IsUrl({ require_tld: false, protocols: ['http'], require_protocol: true }) readonly url!: string;
  @IsIn(['GET', 'PUT', 'POST']) readonly method!: 'GET' | 'PUT' | 'POST';
  @IsTimeMs() readonly expiresAtMs!: number;
}

/** Characters of the texts of an `ErrorView`. */
const ERROR_TEXT_LENGTH = { message: 8192, remediation: 2048 } as const;

/** An error inside another object: the failure of an operation, a run, a machine. */
export class ErrorView {
  @IsText(64) readonly code!: string;
  @IsIn(['caller', 'guest', 'infra']) readonly fault!: Fault;
  @IsInt() readonly status!: number;
  @IsText(ERROR_TEXT_LENGTH.message) readonly message!: string;
  @IsText(ERROR_TEXT_LENGTH.remediation) readonly remediation!: string;
  @IsObject() readonly details!: ErrorDetails;
}

/** `text`, cut where it is longer than a text field takes; the cut is marked. */
export const cutText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;

/** An error as part of another object. Its texts are cut to what the view takes: a message may quote a whole console. */
export const errorView = ({ code, fault, status, message, remediation, details }: ErrorBody): ErrorView =>
  dto(ErrorView, {
    code,
    fault,
    status,
    message: cutText(message, ERROR_TEXT_LENGTH.message),
    remediation: cutText(remediation, ERROR_TEXT_LENGTH.remediation),
    details,
  });

export const OPERATION_STATES = ['running', 'succeeded', 'failed', 'cancelled'] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

/** Long work that was accepted with an id (HTTP 202) and is watched until it ends. */
export class OperationView {
  @IsId() readonly operationId!: string;
  /** What it does, e.g. `image.build`. */
  @IsText(64) readonly kind!: string;
  /** What it works on, e.g. `tiny:3`. */
  @IsText(128) readonly subject!: string;
  @IsIn(OPERATION_STATES) readonly state!: OperationState;
  /** The step under way, or the last one. */
  @IsText(512) readonly step!: string;
  /** 0 to 100. */
  @IsWhole(0, 100) readonly percent!: number;
  @Nullable() @IsNested(() => ErrorView) readonly error!: ErrorView | null;
  @IsTimeMs() readonly startedAtMs!: number;
  @Nullable() @IsTimeMs() readonly endedAtMs!: number | null;
}

export class OperationRequest {
  @IsId() readonly operationId!: string;
  /** Waits up to this long for the operation to end before it answers; 0 answers at once. */
  @IsWhole(0, 55_000) readonly waitMs: number = 0;
  /** The step the caller knows of: a wait then also ends when another one begins. */
  @Nullable() @IsText(512) readonly knownStep: string | null = null;
}

/** The person who asks; becomes the author of commits. */
export class PersonView {
  @IsText(128, 1) readonly name!: string;
  @IsString() @MaxLength(254) readonly email!: string;
}

/** Optional text that a caller may leave out. */
export class ReasonRequest {
  @IsOptional() @IsText(512) readonly reason: string | null = null;
}
