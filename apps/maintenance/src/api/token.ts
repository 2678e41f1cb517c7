import { useSyncExternalStore } from 'react';

const KEY = 'inquest.token';
/** What a link from `vmctl` carries: `#token=...`. A fragment is sent to no server and stands in no log. */
const FRAGMENT = /^#token=([^&\s]{1,4096})$/;

const watchers = new Set<() => void>();

/** The bearer token of this tab; null while there is none. It is forgotten when the tab is closed. */
export const readToken = (): string | null => sessionStorage.getItem(KEY);

/** Keeps the token for this tab, or forgets it. */
export function writeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
  for (const notify of watchers) notify();
}

/** Takes the token out of the address bar, where it would be seen, bookmarked and kept in the history. */
export function adoptTokenOfAddress(): void {
  const token = FRAGMENT.exec(location.hash)?.[1];
  if (token === undefined) return;
  history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  writeToken(decodeURIComponent(token));
}

/** The token, current at each render. */
export function useToken(): string | null {
  return useSyncExternalStore((notify) => {
    watchers.add(notify);
    return () => watchers.delete(notify);
  }, readToken);
}
