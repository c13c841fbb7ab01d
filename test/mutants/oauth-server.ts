// Mutations of the authorization server.

import type { Mutated } from './mutation.ts'

export const oauthServer: readonly Mutated[] = [
  {
    file: 'oauth-server/engine/adapter.ts',
    tests: ['oauth-server/oauth-face'],
    changes: [
      {
        text: "if (context?.oidc.route === 'introspection' && credential.consumedAt !== null) return undefined",
        becomes: '',
        breaks: 'a refresh token that was used is said to be active',
        tests: ['oauth-server/token'],
      },
      {
        text: "if (hasEnded) return this.#refuse('it was revoked')",
        becomes: '',
        breaks: 'an app learns who the user is by a token that was revoked',
        tests: ['oauth-server/oauth-face'],
      },
      {
        text: 'await this.#parts.store.credentials.endFamily(endOf(family, owners, this.#clock.now()))',
        becomes: '',
        breaks: 'an app that revokes a refresh token keeps the access tokens',
        tests: ['oauth-server/token'],
      },
      {
        text: 'return fault === null ? grantPayload',
        becomes: 'return true ? grantPayload',
        breaks: 'who was removed from an account is represented there',
        tests: ['oauth-server/authorization', 'oauth-server/oauth-face'],
      },
      {
        text: 'filter(scope => client.scopes.includes(scope))',
        becomes: 'slice()',
        breaks: 'tokens have scopes that the client has dropped',
        tests: ['oauth-server/token'],
      },
      {
        text: 'if (await factsOf(context.req).isStillSignedIn()) return',
        becomes: 'return',
        breaks: 'a code outlasts the sign-out that it met',
        tests: ['oauth-server/authorization'],
      },
      {
        text: '      await this.#parts.admit(factsOf(context.req))\n',
        becomes: '      {}\n',
        breaks: 'anybody fills the store with requests that wait',
        tests: ['oauth-server/authorization'],
      },
    ],
  },
  {
    file: 'oauth-server/settle.ts',
    tests: ['oauth-server/oauth-face'],
    changes: [
      {
        text: "if (outcome === 'issued') return null",
        becomes: 'return null',
        breaks: 'an app gets tokens that are not there',
      },
      {
        text: 'grace: graceOf(kind)',
        becomes: 'grace: 30_000',
        breaks: 'of parallel exchanges of a code several win',
      },
      {
        text: 'issued: succession === null ? issued : [...issued, succession]',
        becomes: 'issued',
        breaks: 'nobody notices that a refresh token was stolen',
      },
      {
        text: "if (context.oidc?.route === 'introspection') for (const name of ofPages) context.remove(name)",
        becomes: '',
        breaks: 'pages read what introspection responds',
        tests: ['oauth-server/token'],
      },
      {
        text: 'await keepFromApp(context, facts, store)',
        becomes: '',
        breaks: 'a link to this server leads people anywhere',
        tests: ['oauth-server/authorization'],
      },
      {
        text: "|| params.prompt === 'none') return",
        becomes: ') return',
        breaks: 'an app that asks without a person gets no response',
        tests: ['oauth-server/authorization'],
      },
      {
        text: "(route === 'resume' || (await isKnownMember(store, client.account, person.user)))",
        becomes: 'true',
        breaks: 'a link to this server leads people who are signed in anywhere',
        tests: ['oauth-server/authorization'],
      },
    ],
  },
  {
    file: 'oauth-server/introspection.ts',
    tests: ['oauth-server/token'],
    changes: [
      {
        text: 'if (grant === null || hasEnded) return inactive',
        becomes: 'if (grant === null) return inactive',
        breaks: 'a token that was revoked is told to be active',
      },
    ],
  },
  {
    file: 'oauth-grants/family.ts',
    tests: ['oauth-server/oauth-face'],
    changes: [
      {
        text: 'const grace = 30_000',
        becomes: 'const grace = 3_000_000',
        breaks: 'a refresh token works again and again',
      },
      {
        text: "hash('sha256', `family ${family}`)",
        becomes: "hash('sha256', 'family')",
        breaks: 'a replay ends what other codes gave',
      },
    ],
  },
  {
    file: 'oauth-server/oauth-face.ts',
    tests: ['oauth-server/authorization', 'oauth-server/token'],
    changes: [
      {
        text: "facts.refused = modes.find(mode => mode !== 'query') ?? null",
        becomes: '',
        breaks: 'a request chooses how its response is sent, and is not told that it cannot',
      },
      {
        text: 'await this.#checkClient(uid)',
        becomes: '',
        breaks: 'codes go to where a client does not want them any more',
      },
      {
        text: 'request.iterator({ destroyOnReturn: false })',
        becomes: 'request',
        breaks: 'a large body holds up the next request of its connection',
      },
      {
        text: 'if (!isProven && !hasKnownPublisher(asked.client!))',
        becomes: 'if (false)',
        breaks: 'a link to sign out leads people anywhere',
        tests: ['oauth-server/token'],
      },
    ],
  },
  {
    file: 'oauth-server/engine/configuration.ts',
    tests: ['oauth-server/authorization'],
    changes: [
      {
        text: "client.clientAuthMethod === 'none',",
        becomes: 'false,',
        breaks: 'public clients need no PKCE',
      },
      {
        text: "oidc.route !== 'introspection' && registered",
        becomes: 'registered',
        breaks: 'pages use the introspection of tokens',
        tests: ['oauth-server/token'],
      },
      {
        text: 'return token.clientId === clientId',
        becomes: 'return true',
        breaks: 'anybody who knows a client_id learns of the tokens of others',
        tests: ['oauth-server/token'],
      },
    ],
  },
  {
    file: 'oauth-server/engine/decisions.ts',
    tests: ['oauth-server/authorization', 'oauth-server/token'],
    changes: [
      {
        text: '...(isEmailVerified(user) && { email, email_verified: true }),',
        becomes: 'email,',
        breaks: 'apps take whoever signed up with an address for its owner',
        tests: ['oauth-server/oauth-face'],
      },
      {
        text: 'if (used !== client.tokenEndpointAuthMethod) {',
        becomes: 'if (false) {',
        breaks: 'basic and post are one method',
      },
      {
        text: "if (isPublic(client) && isShared(redirectUri)) return 'shared'",
        becomes: '',
        breaks: 'a program that poses as an app gets a code by itself',
      },
      {
        text: "return isHostSeen ? null : 'host not seen'",
        becomes: 'return null',
        breaks: 'who adds a redirect URI to a client gets the codes of its users',
      },
      {
        text: "if (verdict.kind === 'right') return (facts.isAuthenticated = true)",
        becomes: 'return true',
        breaks: 'any secret is right',
      },
      {
        text: 'if (fault !== null) throw new errors.InvalidScope(fault.description)',
        becomes: '',
        breaks: 'clients get scopes that they have not registered',
      },
      {
        text: 'if (kept === null || kept.record.user !== user || kept.record.client !== record.id) return undefined',
        becomes: 'if (kept === null) return undefined',
        breaks: 'a person acts by the consent of another',
      },
    ],
  },
  {
    file: 'oauth-server/interactions.ts',
    tests: ['oauth-server/authorization'],
    changes: [
      {
        text: 'return cookiesOf(request).includes(`${name}=${uid}`) ? this.#find(uid) : null',
        becomes: '',
        breaks: 'a link has somebody else consent',
      },
      {
        text: 'if (signedInAt === null) return false',
        becomes: 'if (signedInAt === null) return true',
        breaks: 'an app that wants a fresh sign-in gets one of which nobody knows when it was',
      },
      {
        text: "if (client.visibility === 'private' && !(await isMember(this.#store, client.account, person.user)))",
        becomes: 'if (false)',
        breaks: 'private clients are for everybody',
      },
      {
        text: "if (!isOffered) return { kind: 'invalid' }",
        becomes: '',
        breaks: 'a person consents for an account that is not theirs',
      },
      {
        text: 'return isRegistered ? { credential, kept, client } : null',
        becomes: 'return { credential, kept, client }',
        breaks: 'people decide on where a client does not want them to go any more',
      },
    ],
  },
  {
    file: 'oauth-server/engine/redirect.ts',
    tests: ['oauth-server/authorization'],
    changes: [
      {
        text: 'if (registered.includes(uri)) return true',
        becomes: 'if (registered.some(one => uri.startsWith(one))) return true',
        breaks: 'codes go to where nobody has registered',
      },
      {
        text: "return isOfDevice(hostname) ? 'localhost' : host",
        becomes: "return isOfDevice(hostname) ? 'localhost' : hostname",
        breaks: 'another port of a host is taken for the one that was seen',
      },
    ],
  },
  {
    file: 'oauth-server/engine/consents.ts',
    tests: ['oauth-server/authorization'],
    changes: [
      {
        text: 'if (!scopes.every(isAnswered)) return false',
        becomes: '',
        breaks: 'a consent covers scopes that nobody was asked about',
      },
      {
        text: 'if (redirectHosts === undefined) return false',
        becomes: '',
        breaks: 'a consent from before answers requests for what it may not have been given',
      },
      {
        text: 'return resource.length > 0 && resource.every(one => grant.resource.includes(one))',
        becomes: 'return true',
        breaks: 'a consent for one resource covers the others',
      },
      {
        text: 'isHostSeen: grant.redirectHosts!.includes(host)',
        becomes: 'isHostSeen: true',
        breaks: 'a consent counts for hosts that nobody has seen',
      },
      {
        text: 'return [...new Set(resource)].sort()',
        becomes: 'return [...new Set(resource)]',
        breaks: 'what was consented to is asked for again where resources come in another order',
      },
    ],
  },
  {
    file: 'oauth-server/introspection.ts',
    tests: ['oauth-server/token'],
    changes: [
      {
        text: "!permits(caller, 'OAuth Clients Read', client.account)",
        becomes: 'false',
        breaks: 'any API token sees the tokens of all accounts',
      },
    ],
  },
]
