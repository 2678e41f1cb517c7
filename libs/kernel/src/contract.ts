/** A DTO class whose class-validator decorators describe the shape on the wire. */
export type DtoClass<T extends object = object> = new () => T;

/**
 * One request-reply call of a service. `subject` is wide to narrow, lower case. Where `perNode` is true the caller
 * appends the node's id as a last token, so that the call reaches the one host that owns the machine.
 */
export interface Operation<Req extends object, Res extends object> {
  readonly subject: string;
  readonly perNode: boolean;
  readonly request: DtoClass<Req>;
  readonly response: DtoClass<Res>;
  /** How long the caller waits, in ms. NATS itself never gives up. */
  readonly timeoutMs: number;
}

export function operation<Req extends object, Res extends object>(
  definition: Omit<Operation<Req, Res>, 'perNode'> & { readonly perNode?: boolean },
): Operation<Req, Res> {
  return { perNode: false, ...definition };
}

/** One kind of event on JetStream. Published from the outbox, so delivered at least once, in order per subject. */
export interface EventContract<Body extends object> {
  /** Without the trailing ids: `inquest.v1.evt.<scope>.<past participle>`; publishers append `.<id>` tokens. */
  readonly subject: string;
  readonly body: DtoClass<Body>;
}

export const event = <Body extends object>(definition: EventContract<Body>): EventContract<Body> => definition;

/** The subject of a call, with its node token where the operation has one. */
export function subjectFor(op: Pick<Operation<object, object>, 'subject' | 'perNode'>, node: string | null): string {
  return op.perNode && node !== null ? `${op.subject}.${node}` : op.subject;
}
