import { QueryClientProvider } from '@tanstack/react-query';
import { createBrowserRouter, Navigate } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { newQueryClient } from '../api/query-client';
import { Loading } from '../components/notice';
import { ImagePage } from '../images/image.page';
import { ImagesPage } from '../images/images.page';
import { ImportPage } from '../images/import.page';
import { OperationPage } from '../images/operation.page';
import { VersionPage } from '../images/version.page';
import { MachinePage } from '../machines/machine.page';
import { MachinesPage } from '../machines/machines.page';
import { NodesPage } from '../nodes/nodes.page';
import { PublicationPage } from '../publications/publication.page';
import { PublicationsPage } from '../publications/publications.page';
import { SessionPage } from '../sessions/session.page';
import { SessionsPage } from '../sessions/sessions.page';
import { BrokenPage, UnknownPage } from './fallback.pages';
import { Shell } from './shell';

const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <BrokenPage />,
    hydrateFallbackElement: <Loading what="the page" />,
    children: [
      { index: true, element: <Navigate to="/images" replace /> },
      { path: 'images', element: <ImagesPage /> },
      { path: 'images/:name', element: <ImagePage /> },
      // Not below images/: an image may have any name.
      { path: 'import', element: <ImportPage /> },
      { path: 'images/:name/versions/:version', element: <VersionPage /> },
      { path: 'images/:name/operations/:operationId', element: <OperationPage /> },
      { path: 'machines', element: <MachinesPage /> },
      { path: 'machines/:machineId', element: <MachinePage /> },
      {
        path: 'machines/:machineId/terminals/:terminalId',
        // Apart, because the terminal is larger than the rest of the app.
        lazy: async () => ({ Component: (await import('../terminal/terminal.page')).TerminalPage }),
      },
      { path: 'sessions', element: <SessionsPage /> },
      { path: 'sessions/:sessionId', element: <SessionPage /> },
      { path: 'publications', element: <PublicationsPage /> },
      { path: 'publications/:publicationId', element: <PublicationPage /> },
      { path: 'nodes', element: <NodesPage /> },
      { path: '*', element: <UnknownPage /> },
    ],
  },
]);
const queryClient = newQueryClient();

/** The maintenance app. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}
