import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  Inject,
  Injectable,
  SetMetadata,
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { httpError } from './errors';
import { HTTP_OPTIONS, type HttpOptions } from './http-options';

const PUBLIC = 'inquest:public';

/** Lets a route, or all routes of a controller, be used without a bearer token. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC, true);

/** Lets only requests with an accepted bearer token pass. Throws `HTTP_TOKEN_MISSING` and `HTTP_TOKEN_REFUSED`. */
@Injectable()
export class BearerGuard implements CanActivate {
  private readonly accepted: readonly Buffer[];

  constructor(
    private readonly reflector: Reflector,
    @Inject(HTTP_OPTIONS) { tokenSha256 }: HttpOptions,
  ) {
    this.accepted = tokenSha256.map((hex) => Buffer.from(hex, 'hex'));
  }

  canActivate(context: ExecutionContext): boolean {
    // Requests on NATS are authenticated by nats-server.
    if (context.getType() !== 'http') return true;
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()])) return true;
    this.check(context.switchToHttp().getRequest<Request>().headers);
    return true;
  }

  /** For requests that no guard sees, such as the upgrade of a WebSocket. Throws like the guard. */
  check(headers: IncomingHttpHeaders): void {
    const token = bearerToken(headers);
    if (token === null) throw httpError('HTTP_TOKEN_MISSING', 'the request has no bearer token');
    const digest = createHash('sha256').update(token).digest();
    // Every one is compared, so that the time does not tell which one came close.
    const matches = this.accepted.filter((known) => timingSafeEqual(known, digest));
    if (matches.length === 0) throw httpError('HTTP_TOKEN_REFUSED', 'the bearer token is not accepted here');
  }
}

/** The token of `Authorization: Bearer <token>` (RFC 6750); null when there is none. */
export function bearerToken({ authorization }: IncomingHttpHeaders): string | null {
  return /^Bearer +([^\s]{1,4096}) *$/i.exec(authorization ?? '')?.[1] ?? null;
}
