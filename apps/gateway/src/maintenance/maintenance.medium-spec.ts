import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { configureHttp, HttpModule } from '@inquest/http';
import { tempDir, type TempDir } from '@inquest/testing';
import { AppFiles } from './app-files';
import { MaintenanceController } from './maintenance.controller';

const PAGE = '<script type="module" src="/assets/index-1a2b.js" nonce="__CSP_NONCE__"></script>';

describe(MaintenanceController.name, () => {
  let directory: TempDir;
  let app: NestExpressApplication;
  let url: string;

  beforeAll(async () => {
    directory = await tempDir('maintenance');
    @Module({
      imports: [HttpModule.forRoot({ tokenSha256: [], urlSigningKey: 'k'.repeat(32) })],
      controllers: [MaintenanceController],
      providers: [{ provide: AppFiles, useValue: new AppFiles(path.join(directory.path, 'dist')) }],
    })
    class TestModule {}
    app = await NestFactory.create<NestExpressApplication>(TestModule, { logger: false, bodyParser: false });
    configureHttp(app);
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await app.close();
    await directory.remove();
  });

  it('says how to build the app while it is not built', async () => {
    const answer = await fetch(url);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      code: 'HTTP_ROUTE_UNKNOWN',
      detail: expect.stringContaining('npm run build'),
    });
  });

  describe('with the app built', () => {
    beforeAll(async () => {
      await mkdir(path.join(directory.path, 'dist', 'assets'), { recursive: true });
      await writeFile(path.join(directory.path, 'dist', 'index.html'), PAGE);
      await writeFile(path.join(directory.path, 'dist', 'assets', 'index-1a2b.js'), 'export {};');
      await writeFile(path.join(directory.path, 'secret.txt'), 'not for the web');
    });

    it.each(['/', '/images', '/images/tiny/versions/3', '/machines/local-1', '/sessions', '/publications/p', '/nodes'])(
      'serves its page at %s without a token',
      async (route) => {
        const answer = await fetch(url + route);
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(answer.headers.get('cache-control')).toBe('no-store');
      },
    );

    it('lets the page load and run nothing but its own files, and be framed by nobody', async () => {
      const answer = await fetch(url);
      const policy = answer.headers.get('content-security-policy') ?? '';
      const nonce = /nonce-([A-Za-z0-9+/=]{24})'/.exec(policy)?.[1] ?? 'none';
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "frame-ancestors 'none'",
          "connect-src 'self'",
        ]),
      );
      expect(policy).not.toContain('unsafe');
      expect(await answer.text()).toBe(PAGE.replace('__CSP_NONCE__', nonce));
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      const next = await fetch(url);
      expect(next.headers.get('content-security-policy')).not.toContain(nonce);
    });

    it('lets files be kept for ever: their names change with their content', async () => {
      const answer = await fetch(`${url}/assets/index-1a2b.js`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    });

    it.each([
      ['/assets/..%2findex.html', 400],
      ['/assets/..%2f..%2fsecret.txt', 400],
      ['/assets/%2e%2e%2f%2e%2e%2fsecret.txt', 400],
      ['/assets/.htaccess', 400],
      ['/assets/gone-9z.js', 404],
      ['/assets/', 404],
      ['/index.html', 404],
      ['/v2/images', 404],
    ])('answers %s with a problem and nothing else', async (route, status) => {
      const answer = await fetch(url + route);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(await answer.text()).not.toContain('not for the web');
    });
  });
});
