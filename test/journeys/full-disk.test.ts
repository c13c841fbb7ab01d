// A disk that log entries fill: calls go on, what is lost is counted and told once, and nothing has to be restarted.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { completion } from '../help/ai.ts'
import { main, spawnGateway, writeConfig } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'

/** Bytes of the disk, and of what is on it that can be removed. */
const size = 140 * 2 ** 20
const ballast = 120 * 2 ** 20

test('AI calls go on while the disk of SQLite is full; what their log lost is counted and told once, and it recovers by itself', async t => {
  try {
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'])
  } catch {
    return t.diagnostic('this system has no namespaces to try it in')
  }
  const folder = quickFolder(t, 'disk')
  const asked: string[] = []
  const provider = await startProvider(t, ({ body }, response) => {
    const { content } = (body.messages as { content: string }[])[0]!
    if (content.length < 100) asked.push(content)
    say(
      response,
      content === 'large' ? { ...completion, system_fingerprint: 'y'.repeat(300_000) } : completion,
    )
  })
  const store = `sqlite:${folder}/gatehouse.db`
  const ai = `ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }`
  const file = writeConfig(t, `store: { url: '${store}' }\nlog: { access: off }\nzones: []\n${ai}`)
  const script = `mount -t tmpfs -o size=${size} none "$0" && fallocate -l ${ballast} "$0/ballast" && exec "$@"`
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  const by = ['unshare', '-rm', 'sh', '-c', script, folder]
  const gateway = await spawnGateway(t, [main, 'start', '--config', file], { env }, file, by)
  const { account, token } = await gateway.firstStart
  const disk = `/proc/${gateway.pid}/root${folder}`

  const ask = async (base: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asked = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    const response = await fetch(`${base}/client/v4/accounts/${account}/${path}`, asked)
    return { status: response.status, text: await response.text() }
  }
  const make = async (id: string) => (await ask(gateway.admin, 'ai-gateway/gateways', { id })).status
  const sample = async (name: string) => readMetrics(await gateway.metrics()).samples.get(name)!
  const entries = (result: string) => sample(`gatehouse_ai_log_entries_total{result="${result}"}`)
  const told = (msg: string) => gateway.lines.filter(line => line.msg.startsWith(msg))

  const minted = await ask(gateway.admin, 'tokens', {
    name: 'calls',
    policies: [
      {
        effect: 'allow',
        permission_groups: [{ name: 'AI Gateway Run' }],
        resources: { [`svc.api.account.${account}`]: '*' },
      },
    ],
  })
  assert.equal(minted.status, 200, minted.text)
  const { value } = (JSON.parse(minted.text) as { result: { value: string } }).result
  const keyed = { id: 'keyed', collect_logs: false, log_management: 0, idempotency_keys: true, cache_ttl: 60 }
  const made = await ask(gateway.admin, 'ai-gateway/gateways', keyed)
  assert.equal(made.status, 200, made.text)
  const once = async (content: string, fields: Record<string, string>) => {
    const response = await fetch(`${gateway.edge}/v1/${account}/keyed/openai/chat/completions`, {
      method: 'POST',
      headers: { 'svc-aig-authorization': `Bearer ${value}`, 'content-type': 'application/json', ...fields },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
    })
    await response.arrayBuffer()
    const of = (name: string) => response.headers.get(`svc-aig-${name}`)
    return {
      status: response.status,
      isReplayed: of('idempotency-replayed') === 'true',
      cache: of('cache-status'),
    }
  }
  const content = 'x'.repeat(100_000)
  const statuses: Record<number, number> = {}
  let isOver = false
  const client = async () => {
    while (!isOver) {
      const response = await fetch(`${gateway.edge}/client/v4/accounts/${account}/ai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
      })
      await response.arrayBuffer()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }

  const outcomes = new Map<string, number>()
  const tryToMake = async () => {
    const id = `gateway-${outcomes.size}`
    const status = await make(id)
    outcomes.set(id, status)
    return status
  }
  assert.equal(await tryToMake(), 200)
  const clients = Promise.all([client(), client(), client(), client()])
  await gateway.logged('store does not confirm writes')
  // Where little room is left, small writes may still find it.
  await until(async () => (await tryToMake()) === 503)
  // A busy gateway may not have looked yet.
  await until(async () =>
    /"kind":"store_unsafe".*does not confirm writes: .*full/.test(
      (await ask(gateway.admin, 'attention')).text,
    ),
  )
  // No call is made whose key is not on the disk, and responses are reused from the memory alone.
  let keys = 0
  await until(async () => (await once('keyed', { 'idempotency-key': `k-${++keys}` })).status === 503)
  const before = asked.length
  for (let i = 0; i < 3; i++)
    assert.equal((await once('refused', { 'idempotency-key': 'refused' })).status, 503)
  assert.equal(asked.length, before)
  const failed = () => sample('gatehouse_ai_cache_writes_total{result="failed"}')
  await until(
    async () =>
      (await once('large', { 'svc-aig-cache-key': `${++keys}` })).status === 200 && (await failed()) > 0,
  )
  assert.deepEqual(await once('large', { 'svc-aig-cache-key': `${keys}` }), {
    status: 200,
    isReplayed: false,
    cache: 'HIT',
  })
  // The oldest entries have to go.
  await until(async () => (await entries('dropped')) > 0)
  assert.deepEqual(told('AI log entries lost'), [])
  rmSync(join(disk, 'ballast'))
  isOver = true
  await clients
  const { lost, from, to } = await gateway.logged('AI log entries lost: more came than could be written')
  await until(async () => (await sample('gatehouse_ai_log_queued_entries')) === 0)
  await until(async () => (await tryToMake()) === 200)
  await until(async () => (await (await fetch(`${gateway.admin}/readyz`)).text()).includes('"ready"'))

  const first = await once('refused', { 'idempotency-key': 'refused' })
  const again = await once('refused', { 'idempotency-key': 'refused' })
  assert.deepEqual([first.status, first.isReplayed, again.status, again.isReplayed], [200, false, 200, true])
  assert.equal(asked.filter(content => content === 'refused').length, 1)
  const { 200: calls, ...others } = statuses
  assert.deepEqual(others, {})
  assert.equal(lost, await entries('dropped'))
  assert.equal((await entries('written')) + Number(lost), calls)
  assert.ok(Date.parse(String(from)) < Date.parse(String(to)))
  assert.equal(told('AI log entries lost').length, 1)
  const listed = JSON.parse((await ask(gateway.admin, 'ai-gateway/gateways')).text) as {
    result: { id: string }[]
  }
  const ids = new Set(listed.result.map(({ id }) => id))
  for (const [id, status] of outcomes) {
    assert.ok(status === 200 || status === 503, `${id}: ${status}`)
    assert.equal(ids.has(id), status === 200, id)
  }
  // From within: SQLite follows links, and would look for the file outside.
  const check = `const { DatabaseSync } = require('node:sqlite')
    console.log(new DatabaseSync(process.argv[1]).prepare('PRAGMA integrity_check').get().integrity_check)`
  const inside = ['-t', `${gateway.pid}`, '-U', '--preserve-credentials', '-m']
  const checked = execFileSync('nsenter', [
    ...inside,
    process.execPath,
    '-e',
    check,
    `${folder}/gatehouse.db`,
  ])
  assert.equal(String(checked), 'ok\n')
})
