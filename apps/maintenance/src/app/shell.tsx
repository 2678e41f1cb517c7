import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { Link, Outlet, useLocation } from 'react-router';
import { useToken, writeToken } from '../api/token';
import { ConfirmationBanner } from '../confirmations/confirmation-banner';
import { UnfrozenBanner } from '../images/unfrozen-banner';
import { SignInPage } from './sign-in.page';
import { applyTheme, readTheme, THEMES } from './theme';

interface Place {
  readonly to: string;
  /** Pages that belong to it although their addresses are not below `to`. */
  readonly others?: readonly string[];
  readonly title: string;
  /** Path data of a 20 by 20 line drawing. */
  readonly icon: string;
}

const PLACES: readonly Place[] = [
  {
    to: '/images',
    others: ['/import'],
    title: 'Images',
    icon: 'M10 3 3 6.5l7 3.5 7-3.5L10 3ZM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5',
  },
  { to: '/machines', title: 'Machines', icon: 'M3 4h14v9H3zM7 17h6M10 13v4' },
  { to: '/sessions', title: 'Sessions', icon: 'M4 4h12v9H9l-4 3.5V13H4zM7 7.5h6M7 10h4' },
  { to: '/publications', title: 'Publications', icon: 'M10 16V5m0 0L5.5 9.5M10 5l4.5 4.5M4 17h12' },
  { to: '/nodes', title: 'Nodes', icon: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01' },
];

/** The frame of every page: where one can go, and the page. Without a token, the question for one. */
export function Shell() {
  const token = useToken();
  if (token === null) return <SignInPage />;
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <span className="brand">
          <span className="brand-mark" aria-hidden="true" />
          Inquest
        </span>
        <div className="top-tools">
          <ThemeButton />
          <SignOutButton />
        </div>
      </header>
      <Places />
      <main className="main" id="main" tabIndex={-1}>
        <ConfirmationBanner />
        <UnfrozenBanner />
        <Outlet />
      </main>
    </div>
  );
}

/** Where one can go. The place that the page belongs to is marked, and called the page itself only where it is. */
function Places() {
  const { pathname } = useLocation();
  return (
    <nav className="places" aria-label="Main">
      <ul>
        {PLACES.map((place) => (
          <li key={place.to}>
            <Link to={place.to} aria-current={currencyOf(place, pathname)}>
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={place.icon} />
              </svg>
              <span>{place.title}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function currencyOf({ to, others = [] }: Place, pathname: string): 'page' | 'true' | 'false' {
  if (pathname.replace(/\/$/, '') === to) return 'page';
  return [to, ...others].some((page) => `${pathname}/`.startsWith(`${page}/`)) ? 'true' : 'false';
}

function ThemeButton() {
  const [theme, setTheme] = useState(readTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const change = (): void => {
    applyTheme(next);
    setTheme(next);
  };
  return (
    <Button className="button quiet" aria-label={`Theme: ${theme}; change to ${next}`} onPress={change}>
      Theme: {theme}
    </Button>
  );
}

function SignOutButton() {
  const client = useQueryClient();
  const signOut = (): void => {
    client.clear();
    writeToken(null);
  };
  return (
    <Button className="button quiet" onPress={signOut}>
      Sign out
    </Button>
  );
}
