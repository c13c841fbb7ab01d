// `ai.run` of the published client, whose answers stand in the envelope: at the edge, with nothing but base URL and token set.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { type AiEdge, completion, startAi } from '../help/ai.ts'
import { type Provider, say, startProvider } from '../help/provider.ts'

interface Setting {
  readonly ai: AiEdge
  readonly provider: Provider
  readonly client: Cloudflare
}

async function start(t: TestContext): Promise<Setting> {
  const provider = await startProvider(t, ({ path }, response) =>
    say(response, path.endsWith('/embeddings') ? { object: 'list', data: [] } : completion),
  )
  const ai = await startAi(t, { openai: provider.url, ollama: provider.url })
  const baseURL = `http://127.0.0.1:${ai.edge.port}/client/v4`
  return { ai, provider, client: new Cloudflare({ baseURL, apiToken: ai.token, maxRetries: 0 }) }
}

test('run returns the response of the provider, for messages, a prompt and texts', async t => {
  const { client, provider, ai } = await start(t)
  const { account: account_id } = ai
  const messages = [{ role: 'user', content: 'Hi' }]
  const answer = await client.ai.run('openai/gpt-4o-mini', { account_id, messages })
  assert.deepEqual(answer, completion)
  assert.deepEqual(await client.ai.run('@local/llama3.2', { account_id, prompt: 'Hi' }), completion)
  const asked = provider.asked.map(({ path, body }) => [path, body.model, body.messages])
  assert.deepEqual(asked, [
    ['/chat/completions', 'gpt-4o-mini', messages],
    ['/v1/chat/completions', 'llama3.2', messages],
  ])
  assert.equal((await ai.logged(2)).length, 2)
})

test('an unknown model and a bad token are the errors of the client, with their reason', async t => {
  const { client, ai } = await start(t)
  const params = { account_id: ai.account, prompt: 'Hi' }
  await assert.rejects(client.ai.run('nobody/model', params), (error: unknown) => {
    assert.ok(error instanceof Cloudflare.NotFoundError)
    assert.equal(error.errors[0]!.code, 7003)
    return true
  })
  const stranger = client.withOptions({ apiToken: 'svct_nonsense' })
  await assert.rejects(stranger.ai.run('openai/gpt-4o-mini', params), Cloudflare.AuthenticationError)
})
