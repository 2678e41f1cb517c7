import { encodeControl, FRAME_PORT, type AnswerParser, type GuestOp, type GuestRequest } from '@inquest/frame-protocol';
import { type GuestLink } from '../guest-link';
import { CallDeadline, type CallOptions } from './call-deadline';
import { FrameChannel } from './frame-channel';

/** A request, or how it is made once the guest can take it: for properties that age while the guest is waited for. */
export type RequestSource = GuestRequest | { readonly op: GuestOp; readonly make: () => GuestRequest };

/** Opens one stream per request to the guest agent. */
export class AgentConnection {
  constructor(private readonly link: GuestLink) {}

  /** Sends a request and takes its only answer. */
  async call<T>(request: RequestSource, parse: AnswerParser<T>, options: CallOptions): Promise<T> {
    const deadline = new CallDeadline(request.op, options);
    try {
      const channel = await this.open(request, deadline);
      try {
        return parse(await channel.nextControl());
      } finally {
        channel.close();
      }
    } catch (e) {
      throw deadline.explain(e);
    } finally {
      deadline.clear();
    }
  }

  /**
   * Sends a request whose answers the caller reads. The channel is destroyed when `deadline` ends; errors should pass
   * through `deadline.explain`.
   */
  async open(request: RequestSource, deadline: CallDeadline): Promise<FrameChannel> {
    const first = (): Uint8Array => encodeControl('make' in request ? request.make() : request);
    const channel = new FrameChannel(await this.link.connect(FRAME_PORT, deadline.signal, first), request.op);
    deadline.whenEnded((reason) => channel.close(reason));
    return channel;
  }
}
