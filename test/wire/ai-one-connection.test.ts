// Calls of different callers, addresses, gateways and models on one connection: each is decided and logged as if it were alone.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { ask as askHttp2, connectHttp2 } from '../help/http2-client.ts'
import { startResponder } from '../help/origin.ts'
import { thorough } from '../help/thorough.ts'
import { gateway } from '../store/contract-specimens.ts'

const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!.id
const near = '192.0.2.7'
const far = '198.51.100.1'
const others = 'f'.repeat(32)

const who = ['good', 'narrow', 'changing', 'foreign', 'made up', 'none', 'twice', 'misplaced'] as const

const anyCall = fc.record({
  who: fc.constantFrom(...who),
  from: fc.constantFrom(near, far),
  gateway: fc.constantFrom('default', 'default', 'open', 'missing'),
  isOurs: fc.constantFrom(true, true, true, false),
  route: fc.constantFrom('native' as const, 'rest' as const),
})
type Call = Readonly<typeof anyCall extends fc.Arbitrary<infer T> ? T : never>

/** Calls that are sent at once, and whether the changing token is enabled before. */
const rounds = fc.array(fc.tuple(fc.boolean(), fc.array(anyCall, { minLength: 1, maxLength: 12 })), {
  maxLength: 4,
})

interface Sent {
  readonly path: string
  readonly body: string
  readonly fields: readonly (readonly [string, string])[]
}

async function start(t: TestContext) {
  const provider = await startResponder(t, json(completion))
  const settings = { h2c: true, trustedProxies: ['127.0.0.1'] }
  const ai = await startAi(t, { openai: provider.url }, settings)
  await ai.store.gateways.insert(gateway({ account: ai.account, id: 'open', authentication: false }))
  const ids = Object.fromEntries(who.map(name => [name, randomBytes(16).toString('hex')]))
  const policies = [{ id: '0', effect: 'allow' as const, permissionGroups: [run], accounts: [others] }]
  const values: Readonly<Record<string, string>> = {
    good: await ai.mint({ id: ids.good! }),
    narrow: await ai.mint({ id: ids.narrow!, addressesIn: ['192.0.2.0/24'] }),
    changing: await ai.mint({ id: ids.changing! }),
    foreign: await ai.mint({ id: ids.foreign!, policies }),
    'made up': mintToken().value,
  }
  return { ai, ids, values, provider }
}

/** Writes a call with a number of its own, which is in the name of its model and nowhere in its head: heads repeat. */
function written(ai: AiEdge, values: Readonly<Record<string, string>>, one: Call, number: number): Sent {
  const { who, from, gateway, isOurs, route } = one
  const account = isOurs ? ai.account : others
  const isNative = route === 'native'
  const field = isNative ? 'svc-aig-authorization' : 'Authorization'
  const bearer = `Bearer ${values[who === 'twice' || who === 'misplaced' ? 'good' : who]}`
  const credentials = who === 'none' ? [] : [[who === 'misplaced' ? 'X-Api-Key' : field, bearer] as const]
  return {
    path: isNative
      ? `/v1/${account}/${gateway}/openai/chat/completions`
      : `/client/v4/accounts/${account}/ai/v1/chat/completions`,
    body: JSON.stringify({
      tools: [{ model: 'x' }],
      model: `${isNative ? '' : 'openai/'}m${number}`,
      messages: [],
    }),
    fields: [
      ...credentials,
      ...(who === 'twice' ? credentials : []),
      ['X-Forwarded-For', from],
      ...(isNative ? [] : [['svc-aig-gateway-id', gateway] as const]),
    ],
  }
}

function expected({ who, from, gateway, isOurs }: Call, isEnabled: boolean): number {
  if (who === 'misplaced') return 400
  if (gateway === 'open' && isOurs) return 200
  if (who === 'made up' || who === 'none' || who === 'twice') return 401
  if ((who === 'narrow' && from === far) || (who === 'changing' && !isEnabled)) return 401
  if ((who === 'foreign') === isOurs) return 403
  return gateway === 'missing' || !isOurs ? 404 : 200
}

const protocols = {
  'HTTP/1.1': async (_: TestContext, ai: AiEdge) => {
    const wire = await ai.edge.connect()
    return async (calls: readonly Sent[]) => {
      const texts = calls.map(({ path, body, fields }) =>
        call(path, body, ...fields.map(pair => pair.join(': '))),
      )
      await wire.send(texts.join(''))
      const statuses: number[] = []
      for (const _ of calls) statuses.push((await wire.response()).status)
      return statuses
    }
  },
  'HTTP/2': async (t: TestContext, ai: AiEdge) => {
    // The types do not have it yet.
    const allowsTwo: object = { strictSingleValueFields: false }
    const session = await connectHttp2(t, `http://127.0.0.1:${ai.edge.port}`, allowsTwo)
    return (calls: readonly Sent[]) =>
      Promise.all(
        calls.map(async ({ path, body, fields }) => {
          const lines: Record<string, string | string[]> = {}
          for (const [name, value] of fields) {
            const before = lines[name.toLowerCase()]
            lines[name.toLowerCase()] = before === undefined ? value : [before, value].flat()
          }
          const about = { ':method': 'POST', ':path': path, ':authority': 'ai.test' }
          return (await askHttp2(session, { ...about, 'content-type': 'application/json', ...lines }, body))
            .status
        }),
      )
  },
}

for (const [name, connect] of Object.entries(protocols)) {
  test(`each call on a connection of ${name} is decided and logged as if it were alone`, async t => {
    const { ai, ids, values, provider } = await start(t)
    let number = 0
    const logged = new Map<number, string>()
    await fc.assert(
      fc.asyncProperty(rounds, async rounds => {
        const send = await connect(t, ai)
        for (const [isEnabled, calls] of rounds) {
          const found = (await ai.store.tokens.get(ai.account, ids.changing!))!
          await ai.store.tokens.replace(
            { ...found.record, status: isEnabled ? 'active' : 'disabled' },
            found.version,
          )
          const first = number
          number += calls.length
          const statuses = await send(calls.map((one, i) => written(ai, values, one, first + i)))
          assert.deepEqual(
            statuses,
            calls.map(one => expected(one, isEnabled)),
          )
          for (const [i, { who, gateway }] of calls.entries())
            if (statuses[i] === 200)
              logged.set(first + i, `${gateway} ${gateway === 'open' ? null : ids[who]} m${first + i}`)
        }
      }),
      { numRuns: 25 },
    )
    await ai.logs.close()
    const entries: [number, string][] = []
    for (const id of ['default', 'open'])
      for await (const some of ai.store.logs.entries(ai.account, id))
        for (const { gateway, tokenId, model, request } of some) {
          entries.push([Number(model!.slice(1)), `${gateway} ${tokenId} ${model}`])
          assert.ok(request!.text.includes(`${model}"`))
        }
    assert.deepEqual(new Map(entries.sort(([a], [b]) => a - b)), logged)
    assert.equal(entries.length, provider.requests.length)
  })
}

test('a provider is sent what it is sent of a call that comes alone, whatever the calls before shared with it', async t => {
  const provider = await startResponder(t, json(completion))
  const keyed = (key: string) => ({ url: provider.url, keys: [key] })
  const providers = { openai: keyed('key-1'), anthropic: keyed('key-2'), 'google-ai-studio': keyed('key-3') }
  const ai = await startAi(t, providers, { gateway: { authentication: false } })
  const paths = [
    `${ai.native('openai')}/chat/completions`,
    `${ai.native('anthropic')}/v1/messages`,
    `${ai.native('google-ai-studio')}/v1beta/models/x:generateContent`,
    `${ai.native('google-ai-studio')}/v1beta/models/x:generateContent?key=own`,
    `${ai.native('compat')}/chat/completions`,
    `${ai.rest}/v1/chat/completions`,
    `${ai.rest}/v1/messages`,
  ]
  const fields = fc.subarray([
    'Authorization: Bearer own',
    'x-api-key: own',
    'x-goog-api-key: own',
    'anthropic-version: 2',
    'openai-organization: o',
    'Accept-Encoding: gzip',
    'Connection: x-api-key',
    'Cookie: a=b',
  ])
  const model = fc.constantFrom('openai/gpt-4o', 'openai/gpt-4o', 'anthropic/claude')
  const calls = fc.array(fc.tuple(fc.constantFrom(...paths), model, fc.constantFrom('', 'x')), {
    maxLength: 8,
  })
  const sent = () =>
    provider.requests.splice(0).map(({ startLine, lines, text }) => {
      assert.ok(!lines.some(line => line.includes('svct_')))
      return [startLine, ...lines.filter(line => !line.startsWith('svc-ray')), text]
    })
  await fc.assert(
    fc.asyncProperty(fields, calls, async (fields, calls) => {
      const wire = await ai.edge.connect()
      for (const [path, model, content] of calls) {
        const body = JSON.stringify({ model, messages: [{ role: 'user', content }], max_tokens: 5 })
        const bytes = call(path, body, `svc-aig-authorization: Bearer ${ai.token}`, ...fields)
        await wire.send(bytes)
        const { status } = await wire.response()
        const together = sent()
        assert.equal(status, (await ai.edge.ask(bytes)).status)
        assert.deepEqual(together, sent())
      }
      wire.leave()
    }),
    { numRuns: thorough(500, 60) },
  )
})
