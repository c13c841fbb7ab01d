// Further accounts over real processes: what the command line makes while a gateway runs works at once, and is kept apart from the rest.

import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completion } from '../help/ai.ts'
import { gatehouse } from '../help/command.ts'
import { startGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'
import { Visitor } from '../sign-in/site.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

const places: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
  Redis: async t => (await startRedis(t)).url,
}

/** Starts a gateway with a provider, and returns what runs commands beside it. */
async function start(t: TestContext, STORE: string, workers: number) {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const yaml = `
workers: ${workers}
store: { url: '\${STORE}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`
  const gateway = await startGateway(t, yaml, { env: { STORE } })
  const run = async (...args: string[]) => {
    const env = { STORE, GATEHOUSE_DATA: join(dirname(gateway.file), 'data') }
    const { code, stdout, stderr } = await gatehouse([...args, '--config', gateway.file], env)
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }
  const ask = async (base: 'edge' | 'admin', path: string, token: string, body?: object) => {
    const response = await fetch(gateway[base] + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: (await response.json()) as { result: unknown[] } }
  }
  return { gateway, run, ask }
}

const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }

for (const name of thorough(['SQLite', 'Redis'], ['Redis']))
  for (const workers of thorough([0, 2], [2]))
    test(`an account made while a gateway runs calls models at once, and its log is its own (${name}, workers ${workers})`, async t => {
      const { gateway, run, ask } = await start(t, await places[name]!(t), workers)
      const { account: first, token: ofFirst } = await gateway.firstStart
      const rest = (account: string) => `/client/v4/accounts/${account}/ai/v1/chat/completions`
      const id = await run('account', 'create', '--name', 'Shop')
      const token = await run('token', 'create', '--account', id)
      const reader = await run('token', 'create', '--account', id, '--permission', 'AI Gateway Read')
      for (let call = 1; call <= 2; call++)
        assert.equal((await ask('edge', rest(id), token, chat)).status, 200)
      // The first one goes on as before, and neither may use what is the other's.
      assert.equal((await ask('edge', rest(first), ofFirst, chat)).status, 200)
      assert.equal((await ask('edge', rest(first), token, chat)).status, 403)
      assert.equal((await ask('edge', rest(id), ofFirst, chat)).status, 403)

      const logs = (account: string) => `/client/v4/accounts/${account}/ai-gateway/gateways/default/logs`
      const counted = async (account: string, by: string) =>
        (await ask('admin', logs(account), by)).json.result.length
      await until(async () => (await counted(id, reader)) === 2 && (await counted(first, ofFirst)) === 1)
      assert.equal((await ask('admin', logs(first), reader)).status, 403)
      assert.equal((await ask('admin', logs(id), ofFirst)).status, 403)
    })

test('the link for a new account makes its first super administrator, who sees that account alone', async t => {
  const { gateway, run } = await start(t, await places.SQLite!(t), 0)
  const { account: first } = await gateway.firstStart
  const id = await run('account', 'create', '--name', 'Shop')
  const link = new URL(await run('user', 'invite', '--account', id))
  const visitor = new Visitor(link.origin)
  const page = await visitor.get(link.pathname + link.search)
  const fields = { email: 'ada@example.com', password: 'correct horse battery' }
  const done = await page.submit(link.pathname, fields)
  assert.equal(done.status, 303, done.text)
  const home = await (await visitor.get('/dashboard')).follow()
  assert.match(home.text, /Account Shop/)
  assert.equal((await visitor.get(`/dashboard/${id}/members`)).status, 200)
  assert.equal((await visitor.get(`/dashboard/${first}`)).status, 404)
})
