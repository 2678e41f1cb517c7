import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { describeDtos } from './dto-schema';

export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
}

/** Serves the API's description: for people at /docs, for programs at /openapi.json. Answers the document. */
export function setupOpenApi(app: INestApplication, { title, version }: OpenApiOptions): OpenAPIObject {
  describeDtos();
  const base = new DocumentBuilder()
    .setTitle(title)
    .setVersion(version)
    .addBearerAuth()
    .addSecurityRequirements('bearer');
  const document = SwaggerModule.createDocument(app, base.build());
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
  return document;
}
