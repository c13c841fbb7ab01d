// A token is used at the edge, and another on the side port, by a gateway of one process and by one of three: the API shows the hour of it soon after.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { completion } from '../help/ai.ts'
import { startGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'

const hour = 3_600_000

interface Shown {
  readonly id: string
  readonly issued_on: string
  readonly value?: string
  readonly last_used_on?: string
}

async function start(t: TestContext, workers: number, store = '') {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const gateway = await startGateway(
    t,
    `
workers: ${workers}
${store}
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`,
  )
  const { account, token: owner } = await gateway.firstStart
  const path = `/client/v4/accounts/${account}`
  const send = (url: string, token: string, body?: object) =>
    fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const ask = async (rest: string, token = owner, body?: object) => {
    const response = await send(`${gateway.admin}${path}${rest}`, token, body)
    assert.equal(response.status, 200)
    return ((await response.json()) as { readonly result: never }).result
  }
  const mint = (name: string): Promise<Shown & { readonly value: string }> => {
    const resources = { [`svc.api.account.${account}`]: '*' }
    const [group] = permissionGroups.filter(({ name }) => name === 'AI Gateway Run')
    const policies = [{ effect: 'allow', permission_groups: [{ id: group!.id }], resources }]
    return ask('/tokens', owner, { name, policies })
  }
  const chat = async (token: string) => {
    const url = `${gateway.edge}${path}/ai/v1/chat/completions`
    const response = await send(url, token, { model: 'openai/gpt-4o-mini', messages: [] })
    assert.equal(response.status, 200)
    await response.arrayBuffer()
  }
  const shown = (id: string): Promise<Shown> => ask(`/tokens/${id}`)
  return { ask, mint, chat, shown }
}

async function useTokens(t: TestContext, workers: number, store?: string): Promise<void> {
  const { ask, mint, chat, shown } = await start(t, workers, store)
  const [atEdge, atSidePort, unused] = [await mint('edge'), await mint('side port'), await mint('unused')]
  const before = Date.now()
  for (let i = 0; i < 4; i++) await chat(atEdge.value)
  await ask('/tokens/verify', atSidePort.value)
  for (const { value, ...made } of [atEdge, atSidePort]) {
    await until(async () => (await shown(made.id)).last_used_on !== undefined)
    const { last_used_on, ...rest } = await shown(made.id)
    const at = Date.parse(last_used_on!)
    assert.deepEqual(rest, made)
    assert.ok(at % hour === 0 || last_used_on === made.issued_on)
    assert.ok(at > before - hour && at >= Date.parse(made.issued_on) && at <= Date.now())
  }
  assert.equal((await shown(unused.id)).last_used_on, undefined)
}

test('a gateway of one process shows when tokens were last used', t => useTokens(t, 0))

test('a gateway of several processes shows when tokens were last used, in Redis', async t => {
  const { url } = await startRedis(t)
  await useTokens(t, 2, `store: { url: '${url}', command_timeout: 5s }`)
})
