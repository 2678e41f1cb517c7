import { Injectable } from '@nestjs/common';
import { cutText, errorView, type ErrorView } from '@inquest/contracts-base';
import type { DomainError, ErrorDetails } from '@inquest/kernel';
import { createRedactor, type Redact } from '@inquest/transcript';
import { AgentServiceConfig } from '../agent-service.config';

/** Takes secrets out of everything that this service writes down: transcript lines, rows, errors. */
@Injectable()
export class Redaction {
  readonly redact: Redact;

  constructor({ modelApiKey }: AgentServiceConfig) {
    this.redact = createRedactor(modelApiKey ? [{ name: 'model key', value: modelApiKey }] : []).redact;
  }

  /** Redacted before it is cut: half a secret no longer looks like one. */
  text(text: string, maxLength: number): string {
    return cutText(this.redact(text), maxLength);
  }

  error(error: DomainError): ErrorView {
    const { message, remediation, details, ...body } = error.toBody();
    return errorView({
      ...body,
      message: this.redact(message),
      remediation: this.redact(remediation),
      details: this.details(details),
    });
  }

  private details(details: ErrorDetails): ErrorDetails {
    const pairs = Object.entries(details);
    return Object.fromEntries(
      pairs.map(([key, value]) => [key, typeof value === 'string' ? this.redact(value) : value]),
    );
  }
}
