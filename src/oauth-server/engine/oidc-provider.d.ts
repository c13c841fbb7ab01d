// The modules of the package, which has no types of its own.

declare module 'oidc-provider/lib/provider.js'
declare module 'oidc-provider/lib/helpers/errors.js'
declare module 'oidc-provider/lib/helpers/interaction_policy/index.js'
