const readonly = (...names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

/** What plain JavaScript files may use without importing it. */
export const globals = {
  node: readonly(
    'AbortController',
    'AbortSignal',
    'Buffer',
    'clearInterval',
    'clearTimeout',
    'console',
    'fetch',
    'performance',
    'process',
    'setImmediate',
    'setInterval',
    'setTimeout',
    'structuredClone',
    'TextDecoder',
    'TextEncoder',
    'URL',
  ),
  commonjs: readonly('__dirname', '__filename', 'exports', 'module', 'require'),
};
