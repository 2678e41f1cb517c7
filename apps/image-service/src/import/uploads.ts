import type { AddressInfo, Server } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { UploadImageRequest } from '@inquest/contracts-image';
import { dto, StreamTicket } from '@inquest/contracts-base';
import { UrlSigner } from '@inquest/http';
import { ImageServiceConfig } from '../image-service.config';

/** Long enough to hand it on and connect, too short to be worth stealing. */
const TICKET_LIFETIME_MS = 60_000;
/** A server that listens everywhere is reached on loopback by those who got no better address. */
const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

/** Hands out addresses for uploads. What an upload declares is in the address and covered by its signature. */
@Injectable()
export class Uploads {
  constructor(
    private readonly config: ImageServiceConfig,
    private readonly signer: UrlSigner,
    private readonly http: HttpAdapterHost,
  ) {}

  issue({ name, ...declaration }: UploadImageRequest): StreamTicket {
    const declared = Object.entries(declaration).filter(([, value]) => value !== null);
    const query = new URLSearchParams(declared.map(([key, value]): [string, string] => [key, String(value)]));
    const path = this.signer.signPath('PUT', `/v1/uploads/${name}?${query.toString()}`, TICKET_LIFETIME_MS);
    return dto(StreamTicket, {
      url: `${this.baseUrl()}${path}`,
      method: 'PUT',
      expiresAtMs: Date.now() + TICKET_LIFETIME_MS,
    });
  }

  private baseUrl(): string {
    if (this.config.advertisedUrl !== undefined) return this.config.advertisedUrl.replace(/\/+$/, '');
    const { address, family, port } = (this.http.httpAdapter.getHttpServer() as Server).address() as AddressInfo;
    if (EVERY_ADDRESS.includes(address)) return `http://127.0.0.1:${port}`;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }
}
