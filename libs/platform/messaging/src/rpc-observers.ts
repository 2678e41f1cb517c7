import { Injectable } from '@nestjs/common';

/** One request-reply call that ended, seen from one side. */
export interface ObservedCall {
  readonly side: 'client' | 'server';
  /** Without a node: a bounded set of names. */
  readonly subject: string;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
  readonly durationMs: number;
}

export type RpcObserver = (call: ObservedCall) => void;

/** Tells metrics about calls. An observer must not throw. */
@Injectable()
export class RpcObservers {
  private readonly observers: RpcObserver[] = [];

  add(observer: RpcObserver): void {
    this.observers.push(observer);
  }

  notify(call: ObservedCall): void {
    for (const observer of this.observers) observer(call);
  }
}
