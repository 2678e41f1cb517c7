import { useEffect, useState } from 'react';
import { serverNowMs } from '../api/server-clock';
import { age, moment } from '../text/phrases';

/** Now, once a second, by the server's clock. */
export function useNowMs(): number {
  const [nowMs, setNowMs] = useState(() => serverNowMs());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(serverNowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

/** How long ago something was, counting on; the exact time is its title. */
export function Ago({ atMs }: { readonly atMs: number }) {
  const nowMs = useNowMs();
  return (
    <time dateTime={new Date(atMs).toISOString()} title={moment(atMs)} className="ago">
      {age(atMs, nowMs)} ago
    </time>
  );
}
