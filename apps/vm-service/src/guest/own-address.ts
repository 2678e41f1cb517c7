import type { AddressInfo, Server } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { VmServiceConfig } from '../vm-service.config';

/** What a server listens on that listens on all its addresses; loopback is one of them. */
const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

/** Where other services reach the byte streams of this node. */
@Injectable()
export class OwnAddress {
  constructor(
    private readonly config: VmServiceConfig,
    private readonly http: HttpAdapterHost,
  ) {}

  /** Without a slash at its end. Only once the service listens. */
  get baseUrl(): string {
    if (this.config.advertisedUrl !== undefined) return this.config.advertisedUrl.replace(/\/+$/, '');
    const { address, family, port } = (this.http.httpAdapter.getHttpServer() as Server).address() as AddressInfo;
    if (EVERY_ADDRESS.includes(address)) return `http://127.0.0.1:${port}`;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }
}
