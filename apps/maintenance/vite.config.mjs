import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // Libraries of the workspace are bundled from their sources, like in the tests.
  resolve: { conditions: ['@inquest/source', ...defaultClientConditions] },
  // The gateway puts the nonce of each answer here.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    target: 'es2023',
    // Everything comes as a file of its own: the page's policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    // On a busy machine it would warn of times that say nothing about the build.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
