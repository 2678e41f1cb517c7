import { Controller, Get, Header, Param, StreamableFile } from '@nestjs/common';
import { SignedUrl } from '@inquest/http';
import { Pictures } from './pictures';

/** Pictures of screens, each opened by the ticket that a screenshot answered with. */
@Controller('v1/pictures')
@SignedUrl()
export class PicturesController {
  constructor(private readonly pictures: Pictures) {}

  @Get(':ticket')
  @Header('Cache-Control', 'no-store')
  give(@Param('ticket') ticket: string): StreamableFile {
    const png = this.pictures.give(ticket);
    return new StreamableFile(png, { type: 'image/png', length: png.length });
  }
}
