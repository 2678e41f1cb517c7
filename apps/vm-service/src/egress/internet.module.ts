import { Module } from '@nestjs/common';
import { HOST_NETWORK, Internet } from '@inquest/egress-proxy';

/** The one place that decides which network the machines of this node can be let out to. */
@Module({ providers: [{ provide: HOST_NETWORK, useFactory: () => new Internet() }], exports: [HOST_NETWORK] })
export class InternetModule {}
