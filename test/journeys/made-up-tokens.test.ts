// A token moves with its store, from a file to Redis, and opens the AI gateway on every machine and worker; one that nobody was given costs none of them a lookup.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { mintToken, taggerOf } from '../../src/tokens/token.ts'
import { completion } from '../help/ai.ts'
import { gatehouse } from '../help/command.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { lineToEach } from '../help/workers.ts'

const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!

async function asked(gateway: RunningGateway): Promise<number> {
  const { samples } = readMetrics(await gateway.metrics())
  return samples.get('gatehouse_token_lookups_total{source="asked"}')!
}

const forged = (prefix: 'svct_' | 'svco_') => mintToken(prefix, taggerOf(randomBytes(32))).value
const madeUp = [forged('svct_'), forged('svco_'), mintToken('svct_').value, mintToken('svco_').value]

test('a token goes on where its store goes, and a made-up one is refused without a lookup everywhere', async t => {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const secretsKey = randomBytes(32).toString('hex')
  const yaml = (store: string, workers: number) => `
workers: ${workers}
log: { level: debug }
${store}
secrets: { key: '${secretsKey}' }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`
  const file = await startGateway(t, yaml('', 0))
  const { account, token: first } = await file.firstStart
  const path = `/client/v4/accounts/${account}/ai/v1/chat/completions`
  const ask = (token: string) => ({
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [] }),
  })
  const call = async (gateway: RunningGateway, token: string) =>
    (await fetch(gateway.edge + path, ask(token))).status
  const manage = async (gateway: RunningGateway, method: string, rest: string, body?: object) => {
    const headers = { authorization: `Bearer ${first}`, 'content-type': 'application/json' }
    const url = `${gateway.admin}/client/v4/accounts/${account}/tokens${rest}`
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    assert.equal(response.status, 200)
    return ((await response.json()) as { result: { id: string; value: string } }).result
  }
  const policies = [
    {
      effect: 'allow',
      permission_groups: [{ id: run.id }],
      resources: { [`svc.api.account.${account}`]: '*' },
    },
  ]
  const mint = (gateway: RunningGateway) => manage(gateway, 'POST', '', { name: 'one', policies })

  const kept = await mint(file)
  assert.equal(await call(file, kept.value), 200)
  const before = await asked(file)
  for (const token of madeUp) assert.equal(await call(file, token), 401)
  assert.equal(await asked(file), before)
  file.signal('SIGTERM')
  await file.exited

  const redis = await startRedis(t)
  const db = join(dirname(file.file), 'data', 'gatehouse.db')
  const copied = await gatehouse(['store', 'copy', '--from', `sqlite:${db}`, '--to', redis.url])
  assert.equal(copied.code, 0, copied.stderr)
  const shared = yaml(`store: { url: '${redis.url}', command_timeout: 5s }`, 2)
  const one = await startGateway(t, shared)
  const other = await startGateway(t, shared.replace('workers: 2', 'workers: 0'))
  const fresh = await mint(other)
  const lines = await lineToEach(t, one)
  for (const token of [first, kept.value, fresh.value]) {
    for (const line of lines) assert.equal((await line.send(path, ask(token))).status, 200)
    assert.equal(await call(other, token), 200)
  }
  const counts = [await asked(one), await asked(other)]
  for (const token of madeUp) {
    for (const line of lines) assert.equal((await line.send(path, ask(token))).status, 401)
    assert.equal(await call(other, token), 401)
  }
  assert.deepEqual([await asked(one), await asked(other)], counts)

  await manage(other, 'DELETE', `/${fresh.id}`)
  for (const line of lines) await until(async () => (await line.send(path, ask(fresh.value))).status === 401)
  const [, key] = /"key":"([\w-]{43})"/.exec(String(await redis.ask('HVALS', '{gatehouse}:token_keys')))!
  const unseen = await mint(one)
  await redis.kill()
  for (const token of madeUp) assert.equal(await call(other, token), 401)
  assert.equal(await call(other, unseen.value), 503)
  for (const gateway of [file, one, other]) assert.ok(!JSON.stringify(gateway.lines).includes(key!))
})
