// What callers of AI routes read when a provider cannot be called, or fails: its name, and what to change.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ProviderConfig } from '../../src/config/model/config.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { startConnectProxy } from '../help/connect-proxy.ts'
import { deadOrigin, startOrigin, startResponder } from '../help/origin.ts'
import { busySecond, until } from '../help/until.ts'

const chat = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] })

/** Starts an edge whose calls to providers at their public addresses go no farther than a proxy. */
async function startAtProxy(t: TestContext, providers: Readonly<Record<string, Partial<ProviderConfig>>>) {
  const proxy = await startConnectProxy(t, { port: deadOrigin().port })
  const behind = Object.entries(providers).map(([name, facts]) => [name, { proxy: proxy.config, ...facts }])
  return { ai: await startAi(t, Object.fromEntries(behind)), proxy }
}

const rest = (ai: AiEdge, model: string, ...fields: string[]) =>
  ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, chat(model), `Authorization: Bearer ${ai.token}`, ...fields),
  )

const native = (ai: AiEdge, provider: string, ...fields: string[]) =>
  ai.edge.ask(
    call(
      `${ai.native(provider)}/chat/completions`,
      chat('gpt-4o-mini'),
      `svc-aig-authorization: Bearer ${ai.token}`,
      ...fields,
    ),
  )

test('a call for a provider without a key is refused by the name of the setting, and of its variable', async t => {
  const { ai, proxy } = await startAtProxy(t, {
    openai: { keyVariables: ['OPENAI_API_KEY'] },
    mistral: {},
  })
  const told = {
    openai:
      'The gateway has no key for openai: set ai.providers.openai.keys (OPENAI_API_KEY) in its configuration',
    mistral: 'The gateway has no key for mistral: set ai.providers.mistral.keys in its configuration',
    // It stands in no file.
    groq: 'The gateway has no key for groq: set ai.providers.groq.keys in its configuration',
  }
  const more = ', or, on provider-native and unified routes, send a key of your own'
  for (const [provider, text] of Object.entries(told)) {
    const compat = call(
      `${ai.native('compat')}/chat/completions`,
      chat(`${provider}/a`),
      `svc-aig-authorization: Bearer ${ai.token}`,
    )
    for (const answer of [
      await rest(ai, `${provider}/a`),
      await rest(ai, `${provider}/a`, 'x-api-key: sk-of-the-caller'),
      await native(ai, provider),
      await ai.edge.ask(compat),
    ]) {
      assert.deepEqual([answer.status, answer.field('x-should-retry')], [404, 'false'])
      const { errors, message, error } = JSON.parse(answer.text)
      assert.deepEqual([errors[0].code, message, error.message], [7003, text + more, text + more])
    }
  }
  assert.deepEqual(proxy.asked, [])
})

test('a call goes on to a provider without a key if it brings one, or may need none', async t => {
  const { ai, proxy } = await startAtProxy(t, { openai: {}, mistral: { keys: ['own'] } })
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  const list = `GET ${ai.native('openai')}/models HTTP/1.1\r\nHost: ai.test\r\n${mine}\r\n\r\n`
  for (const answer of [
    await native(ai, 'openai', 'Authorization: Bearer sk-of-the-caller'),
    await ai.edge.ask(list),
    await native(ai, 'mistral'),
  ])
    assert.notEqual(answer.status, 404)
  assert.ok(proxy.asked.length >= 3, `${proxy.asked.length}`)
  const provider = await startResponder(t, json(completion))
  const plain = await startAi(t, { openai: provider.url, 'custom-lab': provider.url })
  for (const name of ['openai', 'custom-lab']) assert.equal((await rest(plain, `${name}/a`)).status, 200)
})

test('an unknown provider or model is told the nearest, and what may be used to tokens that were checked alone', async t => {
  const { url } = deadOrigin()
  const providers = { anthropic: { keys: ['k'] }, 'custom-lab': { url }, groq: { url }, mistral: {} }
  const ai = await startAi(t, { ...providers, 'azure-openai': { keys: ['k'], resources: ['east'] } })
  const usable = 'This gateway has anthropic, azure-openai, custom-lab, groq'
  const models = {
    'opnai/gpt-4o': '; did you mean openai/gpt-4o? ',
    'custom-lap/m': '; did you mean custom-lab/m? ',
    'gpt-4o': '; did you mean openai/gpt-4o? ',
    'gemini-2.5-flash-001': '; did you mean google-ai-studio/gemini-2.5-flash-001? ',
    'gemni-2.5-flash': '; did you mean google-ai-studio/gemini-2.5-flash? ',
    'nothing-like-it/x': '; ',
    'openai/': '; ',
  }
  const namedSo = (model: string) =>
    `Unknown model "${model}": models are named AUTHOR/MODEL, such as openai/gpt-4o`
  const messageOf = async (asked: ReturnType<typeof rest>) => {
    const { status, text } = await asked
    assert.equal(status, 404)
    return JSON.parse(text).message
  }
  const sorted = (text: string) =>
    text.replace(/(?<=[Tt]his gateway has ).*/, list => list.split(', ').sort().join(', '))
  for (const [model, hint] of Object.entries(models)) {
    const tail = hint === '; ' ? `; t${usable.slice(1)}` : hint + usable
    assert.equal(sorted(await messageOf(rest(ai, model))), namedSo(model) + tail)
  }
  assert.equal(
    sorted(await messageOf(native(ai, 'opnai'))),
    `Unknown provider opnai; did you mean openai? ${usable}`,
  )
  assert.match(await messageOf(native(ai, 'azure-openai')), /lists for azure-openai: east$/)

  await ai.change({ authentication: false })
  await until(async () => !(await messageOf(native(ai, 'opnai'))).includes('custom-lab'), busySecond)
  const open = (path: string, model: string) => messageOf(ai.edge.ask(call(path, chat(model))))
  for (const [model, hint] of Object.entries(models)) {
    const isPublic = !model.startsWith('custom-') && hint !== '; '
    const path = `${ai.rest}/v1/chat/completions`
    assert.equal(await open(path, model), namedSo(model) + (isPublic ? hint.trimEnd() : ''))
  }
  assert.match(await open(`${ai.native('opnai')}/x`, 'a'), /; did you mean openai\?$/)
  assert.equal(await open(`${ai.native('custom-lap')}/x`, 'a'), 'Unknown provider custom-lap')
  assert.match(await open(`${ai.native('azure-openai')}/x`, 'a'), /lists for azure-openai$/)
})

test('an error of a provider names it, in every format and in a stream, and its host goes to the log alone', async t => {
  const dead = deadOrigin()
  const silent = await startOrigin(t, () => new Promise(() => {}))
  const cut = await startOrigin(t, () => new Promise(() => {}))
  const ai = await startAi(
    t,
    { groq: dead.url, openai: silent.url, 'custom-lab': cut.url },
    { timeouts: { response: 300 } },
  )
  for (const accept of [
    'application/json',
    'application/problem+json',
    'text/html',
    'text/markdown',
    'text/plain',
  ]) {
    const down = await rest(ai, 'groq/m', `Accept: ${accept}`)
    assert.deepEqual([down.status, down.field('content-type')], [521, `${accept}; charset=utf-8`])
    assert.match(down.text, /groq refused the connection from the gateway\./)
    const late = await rest(ai, 'openai/m', `Accept: ${accept}`)
    assert.equal(late.status, 524)
    assert.match(late.text, /openai accepted the connection but did not respond within 0\.3 s\./)
    for (const { text } of [down, late]) {
      assert.doesNotMatch(text, new RegExp(`origin server|127\\.0\\.0\\.1:${dead.port}|:${silent.port}`))
      if (accept.startsWith('application/')) assert.equal(JSON.parse(text).error_category, 'origin')
    }
  }
  const client = await ai.edge.connect()
  await client.send(
    call(`${ai.rest}/v1/chat/completions`, chat('custom-lab/m'), `Authorization: Bearer ${ai.token}`),
  )
  const wire = await cut.wire()
  await wire.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
  await wire.send('a\r\ndata: {}\n\n\r\n')
  await client.until('data: {}')
  wire.reset()
  const end = await client.until('0\r\n\r\n')
  assert.match(end, /custom-lab accepted the connection for your request and then closed it/)
  assert.doesNotMatch(end, new RegExp(`origin server|:${cut.port}`))
  const asked = new Set(ai.edge.accesses.map(({ origin }) => new URL(origin as string).port))
  assert.deepEqual(asked, new Set([dead.port, silent.port, cut.port].map(String)))
})
