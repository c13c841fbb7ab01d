import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Credential } from '../../../src/store/records/credential.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import type { AuditAction } from '../../../src/store/records/records.ts'
import type { RedisStore } from '../../../src/store/redis/redis-store.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { ContractClock } from '../contract-clock.ts'
import {
  auditEntry,
  auditQuery,
  clientSecret,
  credential,
  hex,
  storedResponse,
  oauthClient,
  verification,
} from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const lease = 60_000
const many = 10_000

/** Writes that were acknowledged: by the id of a client how it was last, and the keys of the responses. */
interface Acknowledged {
  readonly clients: Map<string, OAuthClient>
  readonly responses: string[]
  /** Codes that were consumed, and tokens that were kept for them. */
  readonly codes: Credential[]
  readonly tokens: Credential[]
}

test('clients, their secrets, codes and tokens, what is told of them and who is due survive kill -9, in the middle of writing', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const clock = new ContractClock()
  const store = await openRedis(t, server.url, 10_000, clock)
  const account = hex(16)
  const acknowledged: Acknowledged = { clients: new Map(), responses: [], codes: [], tokens: [] }
  const ends = Promise.allSettled(Array.from({ length: 8 }, () => writeOn(store, account, acknowledged)))
  await until(() => acknowledged.responses.length > 300)
  await server.kill()
  for (const outcome of await ends) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnreachable)
  }
  await server.restart()
  await until(() => !store.isUnreachable)

  const { items: clients } = await store.oauthClients.list(account, { offset: 0, limit: many })
  const found = new Map(clients.map(client => [client.id, client]))
  for (const [id, client] of acknowledged.clients) {
    const kept = found.get(id)
    assert.ok(kept)
    if (kept.revision === client.revision) assert.deepEqual(kept, client)
    else assert.deepEqual(kept.secrets.slice(1), client.secrets, 'rotated, and killed before that was said')
  }
  for (const key of acknowledged.responses) assert.ok(await store.responses.get(account, key))
  const audit = await store.audit.list(account, auditQuery({ limit: many }))
  assert.deepEqual(
    audit.items.map(({ action, resource }) => `${action} ${resource}`).toSorted(),
    told(clients),
  )
  for (const { kind, digest } of acknowledged.codes)
    assert.equal((await store.credentials.get(kind, digest))?.consumedAt, 7)
  for (const token of acknowledged.tokens)
    assert.deepEqual(await store.credentials.get(token.kind, token.digest), token)
  assert.ok(acknowledged.tokens.length > 100)
  clock.advance(2 * lease)
  const claimed = await store.oauthClients.claimDue(many, lease)
  assert.deepEqual(claimed.map(({ record }) => record.id).toSorted(), clients.map(({ id }) => id).toSorted())
})

/** Creates clients without end, rotates the secret of each, and now and then claims some. */
async function writeOn(store: RedisStore, account: string, acknowledged: Acknowledged) {
  const { oauthClients } = store
  const { clients, responses } = acknowledged
  for (;;) {
    const due = verification({ nextCheckAt: Date.now() + 50 })
    const client = oauthClient({ account, secrets: [clientSecret()], verification: due })
    const together = (action: AuditAction) => ({
      audit: auditEntry({ account, resource: client.id, action }),
      response: storedResponse({ account }),
    })
    const [created, changed] = [together('create'), together('rotate_secret')]
    assert.ok(await oauthClients.insert(client, created))
    clients.set(client.id, client)
    responses.push(created.response.key)
    await oauthClients.claimDue(3, lease)
    const { version } = (await oauthClients.get(account, client.id))!
    const next = { ...client, secrets: [clientSecret(), ...client.secrets], revision: 2 }
    assert.ok(await oauthClients.replace(next, version, changed))
    clients.set(client.id, next)
    responses.push(changed.response.key)
    await exchangeCode(store, acknowledged)
  }
}

/** Has a code consumed and keeps two tokens for it. */
async function exchangeCode({ credentials }: RedisStore, { codes, tokens }: Acknowledged): Promise<void> {
  const code = credential('authorization_code')
  await credentials.put(code)
  assert.ok((await credentials.consume(code.kind, code.digest, 7))?.isFirst)
  codes.push(code)
  const pair = [credential('access_token'), credential('refresh_token')]
  await credentials.putAll(pair)
  tokens.push(...pair)
}

/** What has to be told of clients: that each was created, and whether it was rotated. */
function told(clients: readonly OAuthClient[]): readonly string[] {
  const lines = clients.flatMap(({ id, secrets }) => [
    `create ${id}`,
    ...(secrets.length === 2 ? [`rotate_secret ${id}`] : []),
  ])
  return lines.toSorted()
}
