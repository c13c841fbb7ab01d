// The way of an operator who wants to know whether a provider works: what two workers saw of it, a test, and a key that is replaced in its file.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { completion } from '../help/ai.ts'
import { startGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'

test('observations of two workers about a provider form one state, and a test finds the refused key', async t => {
  const good = new Set(['sk-of-variable'])
  const server = createServer((request, response) => {
    const isGood = good.has(String(request.headers.authorization).slice('Bearer '.length))
    const headers = { 'content-type': 'application/json', 'retry-after': '600' }
    response.writeHead(isGood ? 200 : 401, headers).end(isGood ? JSON.stringify(completion) : '{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const file = join(quickFolder(t, 'keys'), 'openai')
  writeFileSync(file, 'sk-of-file\n')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const gateway = await startGateway(
    t,
    `
workers: 2
ai:
  hosts: [127.0.0.1]
  providers: {openai: {url: '${url}', keys: ['\${OPENAI_API_KEY}', 'file:${file}']}}
zones: []
`,
    { env: { OPENAI_API_KEY: 'sk-of-variable' } },
  )
  const { account, token } = await gateway.firstStart
  const authorization = `Bearer ${token}`
  const api = async (method: string, path: string) => {
    const at = `${gateway.admin}/client/v4/accounts/${account}/ai-gateway/providers${path}`
    const response = await fetch(at, { method, headers: { authorization } })
    const text = await response.text()
    assert.doesNotMatch(text, /sk-of/)
    return JSON.parse(text).result
  }
  const chat = async () => {
    const response = await fetch(`${gateway.edge}/client/v4/accounts/${account}/ai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', connection: 'close' },
      body: '{"model":"openai/gpt-4o-mini","messages":[]}',
    })
    await response.arrayBuffer()
    return response.status
  }
  const [before] = await api('GET', '')
  assert.deepEqual([before.state, before.processes, before.last_call_at], ['unknown', 2, null])
  assert.deepEqual(
    before.keys.map(({ source }: { source: unknown }) => source),
    [
      { type: 'environment', name: 'OPENAI_API_KEY' },
      { type: 'file', name: file },
    ],
  )
  // Both workers come to try both keys.
  await until(async () => {
    assert.equal(await chat(), 200)
    const [{ keys }] = await api('GET', '')
    return keys[1].resting_in === 2
  })
  const [after] = await api('GET', '')
  assert.deepEqual([after.state, after.keys[0].resting_in], ['working', 0])
  assert.equal(after.keys[1].rests_for_status, 401)
  const outcomes = async () =>
    (await api('POST', '/openai/test')).results.map(({ outcome }: { outcome: string }) => outcome)
  assert.deepEqual(await outcomes(), ['accepted', 'refused'])
  writeFileSync(file, 'sk-of-file-2\n')
  good.add('sk-of-file-2')
  gateway.signal('SIGHUP')
  await gateway.logged('configuration reloaded')
  assert.deepEqual(await outcomes(), ['accepted', 'accepted'])
  const [renewed] = await api('GET', '')
  assert.deepEqual([renewed.state, renewed.keys[1].resting_in], ['working', 0])
  await gateway.logged('provider tested')
  assert.doesNotMatch(JSON.stringify(gateway.lines), /sk-of/)
})
