import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openStore } from '../../../src/store/open.ts'
import { startGateway } from '../../help/gateway.ts'

test('once the files of the store are removed, no change is confirmed, a worker that starts makes no other, and kill -9 loses nothing', async t => {
  const gateway = await startGateway(t, 'workers: 2\nzones: []\nai: { hosts: [127.0.0.1] }')
  const { account, token } = await gateway.firstStart
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = (id: string) =>
    fetch(`${gateway.admin}/client/v4/accounts/${account}/ai-gateway/gateways`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ id }),
    })
  const folder = join(dirname(gateway.file), 'data')
  const file = join(folder, 'gatehouse.db')
  const confirmed: string[] = []
  let refused = 0
  for (let i = 0; i < 40; i++) {
    if (i === 20) for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`)
    const response = await create(`g${i}`)
    if (response.status === 200) confirmed.push(`g${i}`)
    else {
      refused++
      assert.equal(response.status, 503)
      const { errors } = (await response.json()) as { errors: { message: string }[] }
      assert.match(errors[0]!.message, /gatehouse\.db-wal was removed while it was open.*restore a backup/)
    }
  }
  assert.deepEqual([confirmed.length, refused], [20, 20])
  await gateway.logged('store not trusted')
  const readiness = (await (await fetch(`${gateway.admin}/readyz`)).json()) as Record<string, string>
  assert.equal(readiness.status, 'degraded')
  assert.match(readiness.reason!, /gatehouse\.db-wal was removed/)
  assert.match(await gateway.metrics(), /gatehouse_store_degraded\{reason="file_replaced"\} 1/)

  const [worker] = execFileSync('pgrep', ['-P', String(gateway.pid)], { encoding: 'utf8' }).split('\n')
  process.kill(Number(worker), 'SIGKILL')
  const { err } = await gateway.logged('worker failed to start')
  assert.match((err as { message: string }).message, /removed or replaced while the gateway had them open/)
  assert.equal(existsSync(`${file}-wal`), false)

  gateway.signal('SIGKILL')
  await gateway.exited
  const store = await openStore(`sqlite:${file}`, { commandTimeout: 2_000 })
  t.after(() => store.close())
  const found = (await store.gateways.list(account, { offset: 0, limit: 100 })).items.map(({ id }) => id)
  for (const id of confirmed) assert.ok(found.includes(id), `${id} is lost`)
})

test('if the store was replaced, a starting worker opens neither', async t => {
  const gateway = await startGateway(t, 'workers: 1\nzones: []')
  const folder = join(dirname(gateway.file), 'data')
  const file = join(folder, 'gatehouse.db')
  rmSync(file)
  copyFileSync(`${file}-credentials`, file)
  const before = [readdirSync(folder).toSorted(), statSync(file).size]
  const { reason } = await gateway.logged('store not trusted')
  assert.match(String(reason), /gatehouse\.db was replaced while it was open/)
  const worker = execFileSync('pgrep', ['-P', String(gateway.pid)], { encoding: 'utf8' }).trim()
  process.kill(Number(worker), 'SIGKILL')
  await gateway.logged('worker failed to start')
  assert.deepEqual([readdirSync(folder).toSorted(), statSync(file).size], before)
})

test('once a file of the store is emptied in place, no change is confirmed, also when it has content again', async t => {
  const gateway = await startGateway(t, 'zones: []')
  const { account, token } = await gateway.firstStart
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = async (id: string) => {
    const url = `${gateway.admin}/client/v4/accounts/${account}/ai-gateway/gateways`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ id }) })
    return [response.status, await response.text()] as const
  }
  assert.equal((await create('before'))[0], 200)
  const file = join(dirname(gateway.file), 'data', 'gatehouse.db')
  const { size } = statSync(file)
  truncateSync(file)
  const [status, text] = await create('emptied')
  assert.equal(status, 503, text)
  assert.match(text, /gatehouse\.db was emptied while it was open/)
  truncateSync(file, size)
  assert.equal((await create('filled'))[0], 503)
})
