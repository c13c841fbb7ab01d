// `gatehouse client list`: lists the OAuth clients of an account, all pages of them.

import type { Input } from '../input.ts'
import { columns, json } from '../../terminal/format.ts'
import { print } from '../../terminal/output.ts'
import { clients, withApi } from '../api/session.ts'
import type { ShownClient } from './view.ts'

export function list(input: Input): Promise<number> {
  return withApi(input, async api => {
    const found = await api.all<ShownClient>(clients, filtersOf(input))
    print(input.json ? json(found) : columns([head, ...found.map(cells)]))
    return 0
  })
}

const head = ['CLIENT ID', 'VISIBILITY', 'DOMAIN', 'SECRETS', 'CREATED', 'NAME']

function cells(client: ShownClient): string[] {
  const { client_id: id, visibility, created_at: created, client_name: name } = client
  const proof = client.client_uri_verification?.status ?? '-'
  return [id, visibility, proof, secretsOf(client), created.slice(0, 10), name]
}

function secretsOf(client: ShownClient): string {
  if (client.token_endpoint_auth_method === 'none') return '0'
  return client.has_rotated_secret ? '2' : '1'
}

function filtersOf({ name, visibility }: Input): Record<string, string> {
  return {
    ...(name === undefined ? {} : { client_name: name }),
    ...(visibility === undefined ? {} : { visibility }),
  }
}
