import { applyDecorators, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Public } from './bearer.guard';
import { UrlSigner } from './url-signer';

/** Lets only requests with a valid signed URL pass. Throws `HTTP_SIGNATURE_REFUSED` and `HTTP_SIGNATURE_EXPIRED`. */
@Injectable()
export class SignedUrlGuard implements CanActivate {
  constructor(private readonly signer: UrlSigner) {}

  canActivate(context: ExecutionContext): boolean {
    this.signer.verify(context.switchToHttp().getRequest<Request>());
    return true;
  }
}

/** A route that takes a signed URL in place of a bearer token. */
export const SignedUrl = (): MethodDecorator & ClassDecorator => applyDecorators(Public(), UseGuards(SignedUrlGuard));
