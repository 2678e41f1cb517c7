// Who may depend on whom, by the tags in each project's package.json. Data flows one way:
// edge -> contract -> service -> driver interface <- driver.

const only = (sourceTag, ...onlyDependOnLibsWithTags) => ({ sourceTag, onlyDependOnLibsWithTags });

/** The tags that exist. Each project has exactly one of each kind. */
export const TAGS = {
  type: ['kernel', 'contract', 'domain', 'driver-api', 'driver', 'client', 'platform', 'testing', 'app', 'e2e'],
  scope: ['shared', 'image', 'vm', 'agent', 'publish', 'edge', 'host'],
  env: ['any', 'node', 'browser'],
};

const type = (name) => `type:${name}`;
const types = (...names) => names.map(type);

export const depConstraints = [
  // What it is.
  only(type('kernel'), type('kernel')),
  only(type('contract'), ...types('contract', 'kernel')),
  only(type('domain'), ...types('domain', 'kernel')),
  only(type('driver-api'), ...types('driver-api', 'domain', 'kernel', 'testing')),
  only(type('driver'), ...types('driver', 'driver-api', 'domain', 'platform', 'kernel', 'testing')),
  only(type('client'), ...types('client', 'contract', 'platform', 'kernel', 'testing')),
  only(type('platform'), ...types('platform', 'kernel', 'testing')),
  only(type('testing'), ...types('testing', 'platform', 'kernel')),
  only(type('app'), ...TAGS.type.filter((name) => name !== 'app' && name !== 'e2e').map(type)),
  only(type('e2e'), ...types('client', 'contract', 'domain', 'platform', 'kernel', 'testing')),
  // Whose it is: another service is reached through its contract, never through its driver or its domain.
  ...['image', 'vm', 'agent', 'publish', 'edge'].map((scope) =>
    only(`scope:${scope}`, `scope:${scope}`, 'scope:shared', type('contract')),
  ),
  // The command line also looks at the host it runs on: can it run machines?
  only('scope:host', 'scope:host', 'scope:shared', 'scope:vm', type('contract')),
  only('scope:shared', 'scope:shared', type('contract')),
  // Where it runs.
  only('env:any', 'env:any'),
  only('env:node', 'env:any', 'env:node'),
  only('env:browser', 'env:any', 'env:browser'),
];
