// A disk that the export of log entries fills, while its destination is away: calls go on as before, what is lost is counted, and the rest arrives.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { completion } from '../help/ai.ts'
import { main, spawnGateway, writeConfig } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'

/** Bytes of the disk. */
const size = 8 * 2 ** 20

test('AI calls go on while the disk of the export is full and its destination away; what was lost is counted, and the rest arrives', async t => {
  try {
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'])
  } catch {
    return t.diagnostic('this system has no namespaces to try it in')
  }
  const folder = quickFolder(t, 'disk')
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const received: string[] = []
  let isAway = true
  const receiver = createServer(async (request, response) => {
    const body = await buffer(request)
    if (isAway) return void response.writeHead(503).end()
    for (const line of gunzipSync(body).toString().trimEnd().split('\n')) received.push(JSON.parse(line).id)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const store = join(quickFolder(t, 'store'), 'gatehouse.db')
  const file = writeConfig(
    t,
    `
store: { url: 'sqlite:${store}' }
log: { access: off }
ai:
  hosts: [127.0.0.1]
  providers: { openai: { url: '${provider.url}' } }
  log_export: { https: { url: '${url}' }, payloads: on, delay: 100ms }
zones: []
`,
  )
  const script = `mount -t tmpfs -o size=${size} none "$0" && exec "$@"`
  const env = { ...process.env, GATEHOUSE_DATA: folder }
  const by = ['unshare', '-rm', 'sh', '-c', script, folder]
  const gateway = await spawnGateway(t, [main, 'start', '--config', file], { env }, file, by)
  const { account, token } = await gateway.firstStart
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const base = `/client/v4/accounts/${account}`
  const collected = await fetch(`${gateway.admin}${base}/ai-gateway/gateways/default`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ collect_logs: true }),
  })
  assert.equal(collected.status, 200)
  const sample = async (name: string) => readMetrics(await gateway.metrics()).samples.get(name) ?? 0
  const entries = (result: string) => sample(`gatehouse_ai_log_export_entries_total{result="${result}"}`)

  const statuses: Record<number, number> = {}
  let isOver = false
  const client = async () => {
    while (!isOver) {
      // Random, so that it takes its space when compressed.
      const content = randomBytes(45_000).toString('base64')
      const response = await fetch(`${gateway.edge}${base}/ai/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
      })
      await response.arrayBuffer()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }
  const clients = Promise.all([client(), client(), client(), client()])
  await gateway.logged('writing AI log entries for the export failed')
  await until(async () => (await entries('dropped')) > 0)
  isOver = true
  await clients
  isAway = false
  await gateway.logged('AI log entries for the export written again')
  await until(async () => (await sample('gatehouse_ai_log_queued_entries')) === 0)

  const { 200: calls = 0, ...others } = statuses
  assert.deepEqual(others, {})
  await until(async () => (await entries('sent')) + (await entries('dropped')) >= calls)
  assert.equal((await entries('sent')) + (await entries('dropped')), calls)
  await until(async () => (await sample('gatehouse_ai_log_export_waiting_entries')) === 0)
  assert.equal(new Set(received).size, await entries('sent'))
  assert.equal(await sample('gatehouse_ai_log_entries_total{result="written"}'), calls)
})
