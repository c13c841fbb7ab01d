// The management API of Gatehouse as a contestant: one OAuth client in Redis, read again and again by a token.
import type { Call } from '../call.ts'
import { packageVersion, programIn, ROOT } from '../installed.ts'
import { emptyFolder, keep, type Running } from '../launch.ts'
import { ADMIN } from '../mixes.ts'
import type { Peer } from '../peers.ts'
import { emptyDatabase } from '../redis-server.ts'
import { firstStartIn } from './gatehouse-ai.ts'

const CLIENT = {
  client_name: 'Bench',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: ['https://app.example/callback', 'http://127.0.0.1:3000/callback'],
  scopes: ['ai_gateway.read', 'ai_gateway.run', 'offline_access'],
  logo_uri: 'https://app.example/logo.png',
}

/** Makes a peer of the side port. */
export function gatehouseAdmin(): Peer {
  let read: Call | null = null
  return {
    name: ADMIN,
    refusal: 521,
    version: () => packageVersion(ROOT),
    async prepare(port) {
      const path = keep('gatehouse-admin.yaml', config(port, await emptyDatabase()))
      const args = [programIn(undefined), 'start', '--config', path]
      return { file: process.execPath, args, env: { GATEHOUSE_DATA: emptyFolder() }, prints: /\bsvct_[\w-]+/ }
    },
    settle: async running => {
      read = await createClient(running)
    },
    call: () => read!,
  }
}

async function createClient({ port, printed }: Running): Promise<Call> {
  const { account, token } = firstStartIn(printed())
  const path = `/client/v4/accounts/${account}/oauth_clients`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(CLIENT),
  })
  const { result } = (await answer.json()) as { result: { client_id: string } | null }
  if (result === null) throw new Error(`no client was created: ${answer.status}`)
  const fields = { authorization: headers.authorization }
  return { method: 'GET', path: `${path}/${result.client_id}`, fields, body: '' }
}

function config(admin: number, store: string): string {
  return `workers: 0
listen: ['127.0.0.1:0']
admin: 127.0.0.1:${admin}
store: ${store}
zones: []
`
}
