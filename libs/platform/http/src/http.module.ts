import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { BearerGuard } from './bearer.guard';
import { DtoPipe } from './dto.pipe';
import { HTTP_OPTIONS, type HttpOptions } from './http-options';
import { ProblemFilter } from './problem.filter';
import { sameSite } from './same-site';
import { SignedUrlGuard } from './signed-url.guard';
import { traceRequest } from './trace.middleware';
import { UrlSigner } from './url-signer';

/** Largest JSON body. Files never travel inside JSON. */
const MAX_JSON_BYTES = 1024 * 1024;

/** Validation, problem bodies and bearer tokens on every route of an application, and the signer of URLs. */
@Module({})
export class HttpModule {
  static forRoot(options: HttpOptions): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        { provide: HTTP_OPTIONS, useValue: options },
        { provide: APP_FILTER, useClass: ProblemFilter },
        BearerGuard,
        { provide: APP_GUARD, useExisting: BearerGuard },
        { provide: APP_PIPE, useClass: DtoPipe },
        UrlSigner,
        SignedUrlGuard,
      ],
      exports: [HTTP_OPTIONS, BearerGuard, UrlSigner, SignedUrlGuard],
    };
  }
}

/**
 * What must come before routing: trace ids, the refusal of other sites, the bounded JSON parser. Call it once, before
 * `listen`; create the application with `bodyParser: false`.
 */
export function configureHttp(app: NestExpressApplication): void {
  const { allowedHosts = [] } = app.get<HttpOptions>(HTTP_OPTIONS, { strict: false });
  app.disable('x-powered-by');
  // Nobody asks for an answer conditionally, and a digest of each would be made for nothing.
  app.disable('etag');
  app.use(traceRequest);
  app.use((_request: Request, response: Response, next: NextFunction) => {
    // Answers may hold text of a guest: a browser must not take it for a page.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    next();
  });
  app.use(sameSite(allowedHosts));
  app.useBodyParser('json', { limit: MAX_JSON_BYTES });
}
