import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { httpError } from '@inquest/http';

/** What Vite put into `index.html` for the nonce of each answer (`html.cspNonce` in the app's vite.config.mjs). */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

/** The built maintenance app: `apps/gateway/dist/maintenance` and its source are three levels below `apps`. */
const BUILT_APP = path.resolve(__dirname, '../../../maintenance/dist');

/** The files that `vite build` makes of the maintenance app. */
@Injectable()
export class AppFiles {
  /** Where the files with a content hash in their name are. */
  readonly assets: string;
  private readonly index: string;

  constructor(directory = BUILT_APP) {
    this.assets = path.join(directory, 'assets');
    this.index = path.join(directory, 'index.html');
  }

  /** The page, with `nonce` on its scripts and styles. Throws `HTTP_ROUTE_UNKNOWN`, saying how to build it. */
  async page(nonce: string): Promise<string> {
    try {
      return (await readFile(this.index, 'utf8')).replaceAll(NONCE_PLACEHOLDER, nonce);
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
      throw httpError(
        'HTTP_ROUTE_UNKNOWN',
        'the maintenance app is not built here: run `npm run build` at the top of the checkout, then load this page again',
        {},
        e,
      );
    }
  }
}
