import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Get, Module, Param, Post, Query, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiOkResponse } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import type { Response } from 'express';
import { CleanupStack, defineErrors } from '@inquest/kernel';
import { Public } from './bearer.guard';
import { configureHttp, HttpModule } from './http.module';
import { setupOpenApi } from './open-api';
import { SignedUrl } from './signed-url.guard';
import { UrlSigner } from './url-signer';

class Disk {
  @IsInt() @Min(1) @Max(64) readonly sizeGib!: number;
}
class Machine {
  @IsString() @MaxLength(20) @Matches(/^[a-z]+$/) readonly name!: string;
  @IsIn(['tiny', 'debian']) readonly image: string = 'tiny';
  @IsArray() @ArrayMaxSize(3) @ValidateNested({ each: true }) @Type(() => Disk) readonly disks: Disk[] = [];
  @IsOptional() @IsInt() readonly memoryMib: number | null = null;
}
class ListQuery {
  @IsInt() @Max(200) readonly limit: number = 50;
}

const probeError = defineErrors({
  PROBE_BUSY: { fault: 'infra', status: 503, when: 'Busy.', remediation: 'Wait.' },
});

let created = 0;

@Controller('machines')
class MachinesController {
  @Post()
  @ApiOkResponse({ type: Machine })
  create(@Body() machine: Machine): Machine {
    created++;
    return machine;
  }

  @Get()
  list(@Query() query: ListQuery): ListQuery {
    return query;
  }

  @Get('busy')
  busy(): never {
    throw probeError('PROBE_BUSY', 'no room for one more', { retryAfterMs: 2_500 });
  }

  @Get('broken')
  broken(): never {
    throw new Error('password=hunter2');
  }

  @Get('torn')
  torn(@Res() response: Response): never {
    response.write('half of');
    throw new Error('the rest is gone');
  }

  @Public()
  @Get('public')
  open(): string {
    return 'open';
  }

  @SignedUrl()
  @Get('files/:name')
  file(@Param('name') name: string): string {
    return name;
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

const TOKEN = 'operator-token';
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

describe('the HTTP edge of a service', () => {
  const cleanup = new CleanupStack();
  let app: NestExpressApplication;
  let port: number;

  beforeAll(async () => {
    const tokenSha256 = [
      createHash('sha256').update('another').digest('hex'),
      createHash('sha256').update(TOKEN).digest('hex'),
    ];
    @Module({
      imports: [HttpModule.forRoot({ tokenSha256, urlSigningKey: 'k'.repeat(32), allowedHosts: ['inquest.example'] })],
      controllers: [MachinesController],
    })
    class ProbeModule {}
    app = await NestFactory.create<NestExpressApplication>(ProbeModule, {
      logger: false,
      bodyParser: false,
      abortOnError: false,
    });
    cleanup.defer('app', () => app.close());
    configureHttp(app);
    setupOpenApi(app, { title: 'Probe', version: '1.2.3' });
    await app.listen(0, '127.0.0.1');
    ({ port } = app.getHttpServer().address() as AddressInfo);
  }, 60_000);

  afterAll(() => cleanup.run());

  /** `fetch` would not let a test choose Host and Origin. */
  function send(
    method: string,
    path: string,
    headers: Record<string, string> = AUTHORIZED,
    body?: string,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('error', reject);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = (response.headers['content-type'] ?? '').includes('json');
          const parsed = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  const postJson = (body: string, headers: Record<string, string> = {}): Promise<Answer> =>
    send('POST', '/machines', { ...AUTHORIZED, 'content-type': 'application/json', ...headers }, body);

  it('gives controllers validated instances with defaults filled in', async () => {
    const answer = await postJson('{"name":"a","disks":[{"sizeGib":2}]}');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ name: 'a', image: 'tiny', disks: [{ sizeGib: 2 }], memoryMib: null });
  });

  it('converts the strings of a query to the declared types', async () => {
    expect((await send('GET', '/machines?limit=7')).body).toEqual({ limit: 7 });
    expect(await send('GET', '/machines?limit=7;')).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
  });

  it('answers a bad body with a problem that names every property', async () => {
    const before = created;
    const answer = await postJson('{"name":"A1","disks":[{"sizeGib":0}],"extra":1}', { 'x-request-id': 'trace-9' });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.headers['x-request-id']).toBe('trace-9');
    expect(answer.body).toMatchObject({
      type: 'urn:inquest:error:INPUT_INVALID',
      title: 'Input invalid',
      status: 400,
      code: 'INPUT_INVALID',
      fault: 'caller',
      traceId: 'trace-9',
    });
    expect(answer.body['detail']).toMatch(/^(?=.*name)(?=.*disks\.0\.sizeGib)(?=.*extra)/);
    expect(created).toBe(before);
  });

  it.each([
    ['broken JSON', '{"name":', 400, 'HTTP_REQUEST_INVALID'],
    ['a JSON text', '"text"', 400, 'HTTP_REQUEST_INVALID'],
    ['a list', '[]', 400, 'INPUT_INVALID'],
    ['nothing', '', 400, 'INPUT_INVALID'],
    ['more than 1 MiB', JSON.stringify({ name: 'a'.repeat(1024 * 1024) }), 413, 'HTTP_BODY_OVERSIZED'],
  ])('answers %s as a body with a typed 4xx', async (_what, body, status, code) => {
    const before = created;
    expect(await postJson(body)).toMatchObject({ status, body: { code, fault: 'caller', status } });
    expect(created).toBe(before);
  });

  it('answers an unknown route and a broken path with problems', async () => {
    expect(await send('GET', '/nowhere')).toMatchObject({ status: 404, body: { code: 'HTTP_ROUTE_UNKNOWN' } });
    expect(await send('GET', '/machines/files/%FF')).toMatchObject({
      status: 400,
      body: { code: 'HTTP_REQUEST_INVALID' },
    });
  });

  it('masks an unexpected failure', async () => {
    const answer = await send('GET', '/machines/broken');
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
    expect(answer.text).not.toMatch(/hunter2|\.ts:/);
  });

  it('says when to try again', async () => {
    expect(await send('GET', '/machines/busy')).toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
  });

  it('cuts the connection when a stream breaks half way', async () => {
    await expect(send('GET', '/machines/torn')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it.each([
    ['no token', {}, 'HTTP_TOKEN_MISSING'],
    ['a wrong token', { authorization: 'Bearer wrong' }, 'HTTP_TOKEN_REFUSED'],
    ['its hash', { authorization: `Bearer ${createHash('sha256').update(TOKEN).digest('hex')}` }, 'HTTP_TOKEN_REFUSED'],
    ['another scheme', { authorization: `Basic ${TOKEN}` }, 'HTTP_TOKEN_MISSING'],
  ])('refuses %s', async (_what, headers, code) => {
    const answer = await send('GET', '/machines', headers);
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' }, body: { code } });
  });

  it('lets public routes be used without a token', async () => {
    expect(await send('GET', '/machines/public', {})).toMatchObject({ status: 200, text: 'open' });
  });

  it.each([
    ['a rebound DNS name', { host: 'evil.example' }, 'HTTP_HOST_REFUSED'],
    ['a name that only begins like ours', { host: '127.0.0.1.evil.example' }, 'HTTP_HOST_REFUSED'],
    ['a page of another site', { origin: 'https://evil.example' }, 'HTTP_ORIGIN_REFUSED'],
    ['a page without origin', { origin: 'null' }, 'HTTP_ORIGIN_REFUSED'],
    ['a cross-site request without an Origin', { 'sec-fetch-site': 'cross-site' }, 'HTTP_ORIGIN_REFUSED'],
  ])('refuses %s, on every route', async (_what, headers, code) => {
    for (const path of ['/machines', '/machines/public', '/docs', '/openapi.json']) {
      expect(await send('GET', path, { ...AUTHORIZED, ...headers })).toMatchObject({ status: 403, body: { code } });
    }
  });

  it.each([
    { host: 'localhost:1' },
    { host: '[::1]:1' },
    { host: 'Inquest.Example' },
    { origin: 'http://localhost:5173' },
  ])('answers requests with %j', async (headers) => {
    expect((await send('GET', '/machines', { ...AUTHORIZED, ...headers })).status).toBe(200);
  });

  it('takes a signed URL in place of a token, unchanged only', async () => {
    const path = app.get(UrlSigner).signPath('GET', '/machines/files/a.txt', 60_000);
    expect(await send('GET', path, {})).toMatchObject({ status: 200, text: 'a.txt' });
    expect(await send('GET', path.replace('a.txt', 'b.txt'), {})).toMatchObject({
      body: { code: 'HTTP_SIGNATURE_REFUSED' },
    });
    expect(await send('GET', '/machines/files/a.txt')).toMatchObject({ body: { code: 'HTTP_SIGNATURE_REFUSED' } });
  });

  it('describes bodies in OpenAPI from the rules that are enforced', async () => {
    const { body } = await send('GET', '/openapi.json', {});
    expect(body).toMatchObject({ info: { title: 'Probe', version: '1.2.3' } });
    const { schemas } = body['components'] as { schemas: Record<string, unknown> };
    expect(schemas['Machine']).toEqual({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', maxLength: 20, pattern: '^[a-z]+$' },
        image: { type: 'string', enum: ['tiny', 'debian'], default: 'tiny' },
        disks: { type: 'array', items: { $ref: '#/components/schemas/Disk' }, default: [], maxItems: 3 },
        memoryMib: { type: 'integer', nullable: true, default: null },
      },
    });
    expect(await send('GET', '/docs', {})).toMatchObject({ status: 200 });
  });
});
