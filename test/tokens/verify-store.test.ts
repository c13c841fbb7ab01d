import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { openStore } from '../../src/store/open.ts'
import type { Token } from '../../src/store/records/records.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { newTokenKey } from '../../src/tokens/token-tags.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'
import { account, tokenWith } from './token-with.ts'

const here = '192.0.2.7'
const commandTimeout = 1_000
const gateway = {
  account,
  id: 'default',
  authentication: true,
  collectLogs: false,
  logManagement: 1_000,
  logManagementStrategy: 'DELETE_OLDEST',
  createdAt: 0,
  modifiedAt: 0,
} as const

/** Opens two stores of one place, as two processes do, and keeps a token in it. */
async function openTwo(t: TestContext, url: string) {
  const stores = [await openStore(url, { commandTimeout }), await openStore(url, { commandTimeout })] as const
  t.after(() => Promise.all(stores.map(store => store.close())))
  const [here, there] = stores
  await until(() => !here.isUnreachable && !there.isUnreachable)
  const { value, token } = tokenWith()
  const first = { id: account, name: 'first', createdAt: 0 }
  await there.bootstrap({ account: first, gateway, token, tokenKey: newTokenKey(0) })
  // The notice of this very write would make the token be forgotten once more.
  const keptAt = performance.now()
  await until(() => here.changes.knownUntil > keptAt)
  const verifier = new TokenVerifier({ store: here, grace: 600_000, metrics: new AiMetrics() })
  return { verifier, there, value, token }
}

async function replace(store: Store, token: Token, changed: Partial<Token>): Promise<void> {
  const { version } = (await store.tokens.get(account, token.id))!
  assert.ok(await store.tokens.replace({ ...token, ...changed }, version))
}

/** Changes a token in one process in three ways, each of which the other must obey. */
async function seesChanges({ verifier, there, value, token }: Awaited<ReturnType<typeof openTwo>>) {
  assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
  await replace(there, token, { status: 'disabled' })
  await until(async () => (await verifier.verify(value, here, 'ai')) === 'disabled')
  const rolled = mintToken()
  await replace(there, token, { digest: rolled.digest })
  await until(async () => (await verifier.verify(value, here, 'ai')) === 'unknown')
  await until(async () => typeof (await verifier.verify(rolled.value, here, 'ai')) === 'object')
  await there.tokens.remove(account, token.id)
  await until(async () => (await verifier.verify(rolled.value, here, 'ai')) === 'unknown')
}

test('SQLite: an unknown token is refused without waiting, and counted as one that was asked for', async t => {
  const { there, value, token } = await openTwo(t, `sqlite:${temporaryFile(t)}`)
  const metrics = new AiMetrics()
  const verifier = new TokenVerifier({ store: there, grace: 600_000, metrics })
  assert.equal(verifier.verify(mintToken().value, here, 'ai'), 'unknown')
  assert.deepEqual(verifier.verify(value, here, 'ai'), token)
  assert.deepEqual([metrics.lookups.asked.value, metrics.lookups.remembered.value], [2, 0])
})

test('SQLite: what another process disables, rolls or deletes is refused within a second', async t => {
  await seesChanges(await openTwo(t, `sqlite:${temporaryFile(t)}`))
})

test('Redis: what another process disables, rolls or deletes is refused within a second', async t => {
  const redis = await startRedis(t)
  await seesChanges(await openTwo(t, redis.url))
})

for (const misfortune of ['killed', 'hanging'] as const) {
  test(`Redis ${misfortune}: a verified token lives on, an unknown one is told so within the command timeout, and all is well afterwards`, async t => {
    const redis = await startRedis(t)
    const { verifier, value, token } = await openTwo(t, redis.url)
    await verifier.verify(value, here, 'ai')
    if (misfortune === 'killed') await redis.kill()
    else redis.stop()
    const asked = performance.now()
    assert.equal(await verifier.verify(mintToken().value, here, 'ai'), 'store_unreachable')
    assert.ok(performance.now() - asked < 15 * commandTimeout)
    assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
    if (misfortune === 'killed') await redis.restart()
    else redis.cont()
    await until(async () => (await verifier.verify(mintToken().value, here, 'ai')) === 'unknown')
    assert.deepEqual(await verifier.verify(value, here, 'ai'), token)
  })
}
