// Webhooks in a network of the operator: asked where the configuration allows it, also after a reload, and nowhere else.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completion, json } from '../help/ai.ts'
import { Authority } from '../help/certificates.ts'
import { startGateway } from '../help/gateway.ts'
import { startResponder } from '../help/origin.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'

const authority = new Authority()
const identity = authority.issue(['localhost'])

async function startReceiver(t: TestContext): Promise<string> {
  const tls = { cert: identity.certificate, key: identity.key }
  const server = createServer(tls, (_, response) => response.end('{"verdict":"allow"}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}/`
}

test('the webhook of a guard is asked in a network that the configuration allows, once it does', async t => {
  const provider = await startResponder(t, json(completion))
  const url = await startReceiver(t)
  const ca = join(quickFolder(t, 'ca'), 'ca.pem')
  writeFileSync(ca, authority.certificate)
  const yaml = `ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}', keys: [sk-a] } } }\nzones: []\n`
  const gateway = await startGateway(t, yaml, { env: { NODE_EXTRA_CA_CERTS: ca } })
  const { account, token } = await gateway.firstStart
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const base = `/client/v4/accounts/${account}`
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const set = await fetch(`${gateway.admin}${base}/ai-gateway/gateways/default`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ dlp: { webhook: { url, check: ['REQUEST'], secret } } }),
  })
  assert.equal(set.status, 200, await set.text())
  const chat = async () => {
    const response = await fetch(`${gateway.edge}${base}/ai/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await response.arrayBuffer()
    return response.status
  }
  await until(async () => (await chat()) === 503)
  assert.equal(provider.requests.length, 0)
  const before = readFileSync(gateway.file, 'utf8')
  writeFileSync(gateway.file, before.replace('ai: {', 'ai: { webhooks: { allow_networks: [127.0.0.0/8] },'))
  gateway.signal('SIGHUP')
  await until(async () => (await chat()) === 200)
})
