import { randomBytes } from 'node:crypto';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import type { Response } from 'express';
import { httpError, Public } from '@inquest/http';
import { AppFiles } from './app-files';
import { setPageHeaders } from './page-headers';

/** The app's own routes: each is the same page, which shows what its path names. */
const PAGES = ['images', 'import', 'machines', 'sessions', 'publications', 'nodes'];
/** A file's content never changes under its name. */
const ASSET_MAX_AGE_MS = 365 * 24 * 60 * 60 * 1000;
const NONCE_BYTES = 16;

/** Name of a built file; no path. */
export class AssetParams {
  @Matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/) readonly file!: string;
}

/** Serves the maintenance app. Public: it holds no data, and asks the person for the token that the API wants. */
@Public()
@ApiExcludeController()
@Controller()
export class MaintenanceController {
  constructor(private readonly files: AppFiles) {}

  /** The page, never cached: it names the files of this build. Throws `HTTP_ROUTE_UNKNOWN` when there is none. */
  @Get(['/', ...PAGES, ...PAGES.map((page) => `${page}/*rest`)])
  async page(@Res() response: Response): Promise<void> {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const page = await this.files.page(nonce);
    setPageHeaders(response, nonce);
    response.setHeader('Cache-Control', 'no-store');
    response.type('html').send(page);
  }

  /** A script, style or picture of the page. Throws `HTTP_ROUTE_UNKNOWN`. */
  @Get('assets/:file')
  async asset(@Param() { file }: AssetParams, @Res() response: Response): Promise<void> {
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    await new Promise<void>((resolve, reject) => {
      const options = { root: this.files.assets, maxAge: ASSET_MAX_AGE_MS, immutable: true };
      response.sendFile(file, options, (e?: Error) => {
        if (e === undefined) return resolve();
        // The browser hung up: there is nobody left to tell.
        if (response.headersSent) return resolve();
        reject(
          httpError('HTTP_ROUTE_UNKNOWN', `the maintenance app has no file "${file}"; load its page again`, {}, e),
        );
      });
    });
  }
}
