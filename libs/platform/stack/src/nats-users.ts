import type { NatsUser } from './nats-server';
import type { ServiceDeclaration } from './service-declaration';

/**
 * One NATS login per service. A service may call every command, read every event, and use JetStream; but only the owner
 * of a scope answers its commands and publishes its events, so that no service can speak for another.
 */
export function natsUsers(
  services: readonly ServiceDeclaration[],
  passwords: Readonly<Record<string, string>>,
): NatsUser[] {
  return services.flatMap(({ name, platform }) => {
    const password = passwords[name];
    if (platform === null || password === undefined) return [];
    const { scope } = platform;
    const own = (kind: 'cmd' | 'evt'): string[] => (scope === null ? [] : [`inquest.v1.${kind}.${scope}.>`]);
    return [
      {
        user: name,
        password,
        publish: ['inquest.v1.cmd.>', ...own('evt'), '_INBOX.>', '$JS.>'],
        subscribe: [...own('cmd'), 'inquest.v1.evt.>', '_INBOX.>'],
      },
    ];
  });
}
