import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { systemClock } from '@inquest/kernel';
import { Public } from '@inquest/http';
import { HEALTH_OPTIONS, type HealthOptions } from './health-options';
import { Readiness, type CheckResult } from './readiness';

interface ReadinessBody {
  readonly status: 'ready' | 'unready';
  readonly checks: readonly CheckResult[];
}

interface HealthBody extends ReadinessBody {
  readonly service: string;
  readonly version: string;
  readonly node: string;
  readonly pid: number;
  readonly uptimeMs: number;
  readonly residentBytes: number;
}

/** Liveness, readiness and details of a service. */
@ApiExcludeController()
@Controller()
export class HealthController {
  private readonly startedMs = systemClock.monotonicMs();

  constructor(
    private readonly readiness: Readiness,
    @Inject(HEALTH_OPTIONS) private readonly options: HealthOptions,
  ) {}

  /** The process answers; touches nothing else, so that a lost dependency gets nobody restarted. */
  @Public()
  @Get('healthz')
  live(): { readonly status: 'live' } {
    return { status: 'live' };
  }

  /** 200 when every dependency can be used, else 503. */
  @Public()
  @Get('readyz')
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessBody> {
    const body = await this.readinessBody();
    response.status(body.status === 'ready' ? 200 : 503);
    return body;
  }

  /** Everything an operator asks first; needs a token. */
  @Get('health')
  async health(): Promise<HealthBody> {
    return {
      ...(await this.readinessBody()),
      service: this.options.serviceName,
      version: this.options.version,
      node: this.options.nodeId,
      pid: process.pid,
      uptimeMs: Math.round(systemClock.monotonicMs() - this.startedMs),
      residentBytes: process.memoryUsage.rss(),
    };
  }

  private async readinessBody(): Promise<ReadinessBody> {
    const checks = await this.readiness.results();
    return { status: checks.every(({ isReady }) => isReady) ? 'ready' : 'unready', checks };
  }
}
