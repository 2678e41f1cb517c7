import {
  applyDecorators,
  Catch,
  UseFilters,
  UsePipes,
  type ArgumentMetadata,
  type PipeTransform,
} from '@nestjs/common';
import { MessagePattern, Transport } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';
import { parseDto } from '@inquest/config';
import { toDomainError, type DtoClass, type Operation } from '@inquest/kernel';

export interface RpcHandlerOptions {
  /**
   * For operations that are gathered: every node answers, instead of one instance per service. A handler that
   * answers null keeps silent.
   */
  readonly everyNode?: boolean;
}

/** What the server needs to know about a handler; travels as the extras of Nest's message pattern. */
export interface HandlerRoute {
  readonly perNode: boolean;
  readonly everyNode: boolean;
}

/**
 * Makes a controller method answer an operation. Its payload is an instance of the operation's request class: anything
 * else is refused with `INPUT_INVALID` before the method runs. What it throws reaches the caller with code, fault and
 * details; an unexpected error is masked as `INTERNAL` and logged.
 */
export const RpcHandler = (
  op: Operation<never, never> | Operation<object, object>,
  { everyNode = false }: RpcHandlerOptions = {},
): MethodDecorator => {
  const route: HandlerRoute = { perNode: op.perNode, everyNode };
  // The DTO class comes from the contract, so that validation does not hang on the types that the compiler emits.
  return applyDecorators(
    MessagePattern(op.subject, Transport.NATS, route),
    UsePipes(new RequestPipe(op.request)),
    UseFilters(new RpcErrorFilter()),
  );
};

class RequestPipe implements PipeTransform {
  constructor(private readonly request: DtoClass) {}

  transform(value: unknown, { type }: ArgumentMetadata): unknown {
    // Other parameters, such as the context, are ours.
    return type === 'body' ? parseDto(this.request, value) : value;
  }
}

/** In place of Nest's own, which knows neither codes nor faults. */
@Catch()
class RpcErrorFilter {
  catch(exception: unknown): Observable<never> {
    return throwError(() => toDomainError(exception));
  }
}
