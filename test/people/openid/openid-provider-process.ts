// A real OpenID provider in a process of its own, which signs in at once whom the `login_hint` names: oidc-provider. Its parent sends it accounts and clients, and may
// have it misbehave: sign people in long ago, and claim other things in ID tokens.

import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Conduct } from './openid-provider.ts'

interface Setting {
  readonly clients: readonly object[]
  readonly clientAuthMethods: readonly string[]
  readonly conformIdTokenClaims: boolean
}

/** The claims of each person, by subject; a subject `nobody` says no. */
let accounts: Readonly<Record<string, object>> = {}
let conduct: Conduct = {}

// It has no types of its own.
const name: string = 'oidc-provider'
const { Provider } = await import(name)

const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const [{ clients, clientAuthMethods, conformIdTokenClaims }] = (await once(process, 'message')) as [Setting]

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

const provider = new Provider(issuer, {
  clients,
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
  clientAuthMethods,
  conformIdTokenClaims,
  claims: {
    openid: ['sub'],
    email: ['email', 'email_verified'],
    profile: ['given_name', 'family_name'],
    groups: ['groups'],
  },
  features: { devInteractions: { enabled: false } },
  cookies: { keys: ['a key of a test'] },
  interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  findAccount: (_: unknown, id: string) => ({
    accountId: id,
    claims: () => ({ sub: id, ...accounts[id] }),
  }),
})
provider.use(async (context: { body?: { id_token?: string } }, next: () => Promise<void>) => {
  await next()
  const { body } = context
  if (typeof body?.id_token === 'string') body.id_token = altered(body.id_token)
})
const callback = provider.callback()
process.on('message', (told: { accounts: typeof accounts; conduct: Conduct }) => {
  accounts = told.accounts
  conduct = told.conduct
  process.send!('told')
})
process.send!(issuer)

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!request.url!.startsWith('/interaction/')) return callback(request, response)
  const { params, prompt, grantId } = await provider.interactionDetails(request, response)
  if (params.login_hint === 'nobody')
    return provider.interactionFinished(request, response, { error: 'access_denied' })
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: loginOf(String(params.login_hint)) })
  const grant =
    (await provider.Grant.find(grantId)) ??
    new provider.Grant({ accountId: params.login_hint, clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

/** Signs somebody in: now, or as long ago as they have stayed signed in without being asked. */
function loginOf(accountId: string): object {
  const { ago = 0 } = conduct[accountId] ?? {}
  return { accountId, ts: Math.floor(Date.now() / 1_000) - ago }
}

/** Signs an ID token again, with the claims that are to be other ones; null takes one away. */
function altered(token: string): string {
  const [head, payload] = token.split('.') as [string, string]
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const { claims: others } = conduct[claims.sub] ?? {}
  if (others === undefined) return token
  const kept = Object.entries({ ...claims, ...others }).filter(([, value]) => value !== null)
  const signed = `${head}.${Buffer.from(JSON.stringify(Object.fromEntries(kept))).toString('base64url')}`
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}
