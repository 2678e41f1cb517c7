import { type GuestLink } from '../guest-link';

/** Both ends of a link under test. `guest` is the same interface seen from the other side. */
export interface LinkPair {
  readonly host: GuestLink;
  readonly guest: GuestLink;
  /** The guest is gone at once, without a goodbye, as when its hypervisor is killed. */
  sever(): void;
}
