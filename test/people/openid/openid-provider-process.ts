// A real OpenID provider in a process of its own, which signs in at once whom the `login_hint` names: oidc-provider. Its parent sends it accounts and clients.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Setting {
  readonly clients: readonly object[]
  readonly clientAuthMethods: readonly string[]
  readonly conformIdTokenClaims: boolean
}

/** The claims of each person, by subject; a subject `nobody` says no. */
let accounts: Readonly<Record<string, object>> = {}

// It has no types of its own.
const name: string = 'oidc-provider'
const { Provider } = await import(name)

const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const [{ clients, clientAuthMethods, conformIdTokenClaims }] = (await once(process, 'message')) as [Setting]

const provider = new Provider(issuer, {
  clients,
  clientAuthMethods,
  conformIdTokenClaims,
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
  features: { devInteractions: { enabled: false } },
  cookies: { keys: ['a key of a test'] },
  interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  findAccount: (_: unknown, id: string) => ({
    accountId: id,
    claims: () => ({ sub: id, ...accounts[id] }),
  }),
})
const callback = provider.callback()
process.on('message', (told: { accounts: typeof accounts }) => {
  accounts = told.accounts
  process.send!('told')
})
process.send!(issuer)

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!request.url!.startsWith('/interaction/')) return callback(request, response)
  const { params, prompt, grantId } = await provider.interactionDetails(request, response)
  if (params.login_hint === 'nobody')
    return provider.interactionFinished(request, response, { error: 'access_denied' })
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId: params.login_hint } })
  const grant =
    (await provider.Grant.find(grantId)) ??
    new provider.Grant({ accountId: params.login_hint, clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}
