// The package has no types: those of what is used of it stand with the rest of the engine.

declare module 'oidc-provider'
