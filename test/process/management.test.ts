// What stands behind the management API, opened as the gateway opens it.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../src/base/log.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { Management } from '../../src/process/management.ts'
import { openStore } from '../../src/store/open.ts'
import { edgeConfig } from '../help/edge.ts'
import { startRedis } from '../help/redis.ts'

/** Opens it over a store; gives the messages of the log. */
async function openOver(t: TestContext, url: string, key: string | null): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const said: string[] = []
  const log = createLogger('info', { write: line => said.push(JSON.parse(line).msg) })
  const store = await openStore(url, { commandTimeout: 1_000 })
  const config = { ...edgeConfig([]), secrets: { key, oldKeys: [] } }
  const management = await Management.open(config, store, new Metrics('0'), log, folder)
  await management.close()
  await store.close()
  assert.equal(existsSync(join(folder, 'secrets.key')), key === null)
  return said
}

test('a key is made in the data folder where none is configured', async t => {
  assert.deepEqual(await openOver(t, 'sqlite::memory:', null), [])
})

test('a store that machines share calls for a key that they share', async t => {
  const { url } = await startRedis(t)
  const [warning, ...more] = await openOver(t, url, null)
  assert.match(warning!, /^secrets\.key is not set/)
  assert.deepEqual(more, [])
  assert.deepEqual(await openOver(t, url, '0'.repeat(64)), [])
})
