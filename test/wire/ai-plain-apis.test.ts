// Calls of OpenAI's further APIs by its client: older completions, images, sound and moderations.

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { startAi } from '../help/ai.ts'

const sound = Buffer.from(Array.from({ length: 4096 }, (_, i) => i % 256))

async function start(t: TestContext) {
  const asked: { path: string; model: unknown; authorization: unknown; file: Buffer | null }[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request)
    const type = request.headers['content-type']!
    const isForm = type.startsWith('multipart/')
    const form = isForm ? await new Response(body, { headers: { 'content-type': type } }).formData() : null
    const file = form?.get('file') ?? form?.get('image') ?? null
    asked.push({
      path: request.url!,
      model: form === null ? JSON.parse(body.toString()).model : form.get('model'),
      authorization: request.headers.authorization,
      file: file instanceof Blob ? Buffer.from(await file.arrayBuffer()) : null,
    })
    if (request.url!.endsWith('/speech')) {
      response.setHeader('content-type', 'audio/mpeg').end(sound)
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        text: 'Hello.',
        data: [{ b64_json: 'AA==' }],
        choices: [{ text: 'Hi.' }],
        results: [{ flagged: false }],
        usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
      }),
    )
  }
  const server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const step = { model: 'openai/whisper-1', weight: null, timeout: null, retries: 0 }
  const ai = await startAi(
    t,
    {
      openai: { url, keys: ['sk-ours'] },
      'custom-own': { url, apis: ['audio'] },
      anthropic: { url, keys: ['k'], speaks: 'anthropic' },
    },
    { ai: { models: [{ name: 'hear', steps: [step] }] } },
  )
  const baseURL = `http://127.0.0.1:${ai.edge.port}/v1`
  return { ai, asked, client: new OpenAI({ baseURL, apiKey: ai.token, maxRetries: 0 }) }
}

test('forms reach their provider with the name of the model replaced, and their files untouched', async t => {
  const { client, asked, ai } = await start(t)
  const file = await toFile(sound, 'a.wav')
  for (const model of ['openai/whisper-1', 'whisper-1', 'hear', 'custom-own/large'])
    assert.equal((await client.audio.transcriptions.create({ file, model })).text, 'Hello.')
  await client.audio.translations.create({ file, model: 'openai/whisper-1' })
  await client.images.edit({ image: await toFile(sound, 'a.png'), prompt: 'x', model: 'openai/gpt-image-1' })
  await client.images.createVariation({ image: await toFile(sound, 'a.png'), model: 'openai/dall-e-2' })
  const models = ['whisper-1', 'whisper-1', 'whisper-1', 'large', 'whisper-1', 'gpt-image-1', 'dall-e-2']
  assert.deepEqual(
    asked.map(({ model }) => model),
    models,
  )
  assert.ok(asked.every(({ file }) => file?.equals(sound)))
  assert.equal(asked[0]!.authorization, 'Bearer sk-ours')
  assert.equal(asked[6]!.path, '/v1/images/variations')
  const entries = await ai.logged(7)
  assert.ok(entries.some(({ provider, model }) => provider === 'custom-own' && model === 'large'))
})

test('other calls reach their provider, and sound comes back untouched', async t => {
  const { client, asked, ai } = await start(t)
  const speech = await client.audio.speech.create({ model: 'openai/tts-1', voice: 'alloy', input: 'Hi' })
  assert.ok(Buffer.from(await speech.arrayBuffer()).equals(sound))
  assert.equal(speech.headers.get('content-type'), 'audio/mpeg')
  await client.completions.create({ model: 'openai/gpt-3.5-turbo-instruct', prompt: 'Hi' })
  await client.images.generate({ model: 'openai/gpt-image-1', prompt: 'x' })
  await client.moderations.create({ model: 'omni-moderation-latest', input: 'x' })
  const paths = ['/v1/audio/speech', '/v1/completions', '/v1/images/generations', '/v1/moderations']
  assert.deepEqual(
    asked.map(({ path }) => path),
    paths,
  )
  assert.equal((await ai.logged(4)).find(({ path }) => path === '/v1/completions')!.tokensOut, 2)
})

test('a provider without such an API is refused by name, and so is a form without a model', async t => {
  const { client, asked } = await start(t)
  const refused = (pattern: RegExp) => (error: { status: number; message: string }) =>
    error.status === 400 && pattern.test(error.message)
  await assert.rejects(
    client.completions.create({ model: 'anthropic/claude-opus-5-5', prompt: 'Hi' }),
    refused(/anthropic has no known API for completions/),
  )
  await assert.rejects(
    client.moderations.create({ model: 'custom-own/m', input: 'x' }),
    refused(/list it in ai\.providers\.custom-own\.apis/),
  )
  const file = await toFile(sound, 'a.wav')
  await assert.rejects(
    client.audio.transcriptions.create({ file } as never),
    refused(/model must be a part of the form/),
  )
  assert.equal(asked.length, 0)
})
