// Requests of programs, on short routes, before providers of each API: those of test/golden/programs. Claude Code's, Codex's and LlamaIndex's were
// recorded, with their texts cut short; those of Continue, Open WebUI and n8n, which need a desktop, a database or a build, are as their sources send them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { startAi } from '../help/ai.ts'
import * as servers from '../help/model-server.ts'
import { root } from '../help/source.ts'

interface Replay {
  readonly name: string
  /** METHOD PATH */
  readonly request: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
  /** By model, the setting that a provider of another API lacks. */
  readonly lacks?: Readonly<Record<string, string>>
}

const folder = join(root, 'test/golden/programs')
const programs = globSync('*.json', { cwd: folder }).toSorted()

/** What ends a whole stream of each route. */
const ends: Readonly<Record<string, RegExp>> = {
  '/v1/chat/completions': /\ndata: \[DONE\]\n\n$/,
  '/v1/messages': /\nevent: message_stop\ndata: .*\n\n$/,
  '/v1/responses': /\nevent: response\.completed\ndata: .*\n\n$/,
}

for (const file of programs)
  test(`${basename(file, '.json')}: its requests work with providers of each API`, async t => {
    const replays: readonly Replay[] = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const { all, ai } = await startProviders(t)
    for (const { name, request, headers, body, lacks } of replays) {
      const [method, target] = request.split(' ') as [string, string]
      const [path] = target.split('?') as [string]
      for (const model of method === 'GET' ? [''] : modelsOf(path))
        await t.test(`${name} ${model}`, async () => {
          const response = await fetch(`http://127.0.0.1:${ai.edge.port}${target}`, {
            method,
            headers: {
              ...headers,
              ...('x-api-key' in headers && { 'x-api-key': ai.token }),
              authorization: `Bearer ${ai.token}`,
              'content-type': 'application/json',
            },
            ...(body && { body: JSON.stringify({ ...body, model }) }),
          })
          const text = await response.text()
          if (lacks?.[model] !== undefined) {
            assert.equal(response.status, 400)
            assert.match(text, new RegExp(`"${lacks[model]} has no equivalent in `))
            return
          }
          assert.equal(response.status, 200, text)
          for (const { refused } of all) assert.deepEqual(refused, [])
          if (body?.stream === true) assert.match(text, ends[path]!)
          else assert.equal(JSON.parse(text).error ?? null, null)
          if (method === 'GET') assert.ok(JSON.parse(text).data.length > 0)
          // Nothing of the caller's credential reaches a provider.
          for (const { asked } of all) assert.ok(!JSON.stringify(asked).includes(ai.token))
        })
    }
  })

async function startProviders(t: Parameters<typeof startAi>[0]) {
  const messages = await servers.startModels(t, servers.anthropic)
  const openai = await servers.startModels(t, servers.openai)
  const chat = await servers.startModels(t, servers.chatAlone)
  const responses = await servers.startModels(t, servers.responsesAlone)
  const ai = await startAi(t, {
    anthropic: { url: messages.url, keys: ['sk-ours'] },
    openai: { url: `${openai.url}/v1`, keys: ['sk-ours'] },
    'custom-chat': { url: `${chat.url}/v1`, keys: ['sk-ours'] },
    'custom-responses': { url: `${responses.url}/v1`, keys: ['sk-ours'], apis: ['responses'] },
  })
  return { all: [messages, openai, chat, responses], ai }
}

function modelsOf(path: string): readonly string[] {
  if (path === '/v1/embeddings') return ['openai/text-embedding-3-small']
  return ['openai/gpt-5', 'custom-chat/lab', 'custom-responses/lab', 'anthropic/claude-sonnet-4-5']
}
