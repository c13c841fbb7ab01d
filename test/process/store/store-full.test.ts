import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { startGateway } from '../../help/gateway.ts'
import { until } from '../../help/until.ts'

test('a full file is logged once, with the reason from SQLite, while reads continue, and so is its recovery', async t => {
  const gateway = await startGateway(t, 'zones: []\nai: { hosts: [127.0.0.1] }')
  const { account, token } = await gateway.firstStart
  let said = ''
  const ask = async (path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asked = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${gateway.admin}/client/v4/accounts/${account}/ai-gateway/${path}`, asked)
    const { errors } = (await response.json()) as { readonly errors: readonly { readonly message: string }[] }
    said = errors[0]?.message ?? ''
    return response.status
  }
  const readiness = async () => (await (await fetch(`${gateway.admin}/readyz`)).json()) as { reason?: string }
  const told = () =>
    gateway.lines.filter(({ msg }) => msg.startsWith('store ')).map(({ msg, reason }) => [msg, reason])
  const limitFiles = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(gateway.pid), `--fsize=${bytes}:`])

  // As where the disk is full, but for this process alone: no file grows.
  const kept = join(dirname(gateway.file), 'data')
  limitFiles(statSync(join(kept, 'gatehouse.db-wal')).size)
  assert.equal(await ask('gateways', { id: 'one' }), 503)
  // Where a write fails, SQLite does not say how much of it is in the file.
  assert.match(said, /^The store did not confirm this, so a change may or may not have been made/)
  const reason = 'SQLite refuses them: disk I/O error'
  await gateway.logged('store does not confirm writes')
  for (let i = 0; i < 4; i++) {
    assert.equal((await readiness()).reason, `store does not confirm writes: ${reason}`)
    assert.equal(await ask('gateways', { id: 'one' }), 503)
    assert.equal(await ask('gateways'), 200)
    // Longer than it takes the gateway to try again.
    await new Promise(resolve => setTimeout(resolve, 700))
  }
  assert.match(await gateway.metrics(), /gatehouse_store_up 1\n[\s\S]*gatehouse_store_writable 0\n/)
  limitFiles('unlimited')
  await until(async () => (await readiness()).reason === undefined)
  assert.equal(await ask('gateways', { id: 'one' }), 200)
  await gateway.logged('store confirms writes again')
  assert.deepEqual(told(), [
    ['store does not confirm writes', reason],
    ['store confirms writes again', undefined],
  ])
})
