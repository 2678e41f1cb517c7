import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { adoptTokenOfAddress } from './api/token';
import { App } from './app/app';
import { applyTheme, readTheme } from './app/theme';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/components.css';
import './styles/forms.css';
import './styles/views.css';
import './styles/confirmations.css';

adoptTokenOfAddress();
applyTheme(readTheme());
const container = document.getElementById('app');
if (container === null) throw new Error('index.html has no element "app"');
createRoot(container).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
