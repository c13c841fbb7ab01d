import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { Batch } from '../../src/ai-logs/batch.ts'
import { decodedExcerptOf, type Meter, writeEntry } from '../../src/ai-logs/entry.ts'
import { noTokens } from '../../src/ai/usage/usage.ts'
import type { Observation } from '../../src/ai-logs/observation.ts'
import { entriesOf } from '../../src/store/log-batch/batch.ts'
import type { LogEntry } from '../../src/store/records/records.ts'
import { captured, gateway, observed } from './observed.ts'

/** Counts characters in place of tokens, and takes a dollar for each. */
const meter: Meter = {
  usageOf: ({ head, tail, isEventStream }) => ({
    ...noTokens,
    model: isEventStream ? 'of-stream' : 'of-answer',
    tokensIn: head.length,
    tokensOut: tail.length,
  }),
  costOf: (_provider, model, { tokensIn, tokensOut }) => (model === 'free' ? 0 : tokensIn! + tokensOut!),
}

/** Gives the entry as a store reads it. */
async function entryOf(o: Observation): Promise<LogEntry> {
  const batch = new Batch(gateway)
  const excerpts = {
    request: await decodedExcerptOf(o.request, o.requestEncoding),
    answer: await decodedExcerptOf(o.response, o.responseEncoding),
  }
  writeEntry(o, excerpts, meter, batch)
  return entriesOf(batch.batch(), o.gateway.account, o.gateway.id)[0]!
}

describe('an entry', () => {
  test('contains what was seen of the call', async () => {
    const observation = observed({ metadata: { team: 'search' } })
    deepEqual(await entryOf(observation), {
      id: observation.ray,
      account: '0123456789abcdef0123456789abcdef',
      gateway: 'default',
      createdAt: Date.UTC(2026, 0, 1),
      provider: 'openai',
      model: 'gpt-4o',
      path: '/v1/chat/completions',
      status: 200,
      success: true,
      error: null,
      duration: 12.346,
      timeToFirstByte: 10,
      tokensIn: 12,
      tokensOut: 0,
      cost: 12,
      cached: false,
      authenticated: true,
      tokenId: '0123456789abcdef0123456789abcdef',
      tokenName: 'mine',
      streamed: false,
      metadata: { team: 'search' },
      requestContentType: 'application/json',
      responseContentType: 'application/json',
      request: { text: '{"model":"gpt-4o","messages":[]}', isCut: false },
      response: { text: '{"usage":{}}', isCut: false },
      providerResponse: null,
    })
  })

  test('names the app and its user, where an app called', async () => {
    const app = { user: 'u', email: 'ann@example.com', client: 'c', clientName: 'mine' }
    const actor = { ...app, grant: 'g', end: null, members: [], scopes: [], apis: [] }
    const {
      tokenId,
      tokenName,
      app: told,
    } = await entryOf(observed({ token: { id: 'g', name: 'mine', actor } }))
    deepEqual([tokenId, tokenName, told], ['g', 'mine', app])
  })

  test('reports success only for a 2xx that the client received completely', async () => {
    equal((await entryOf(observed({ isWhole: false }))).success, false)
    equal((await entryOf(observed({ status: 302 }))).success, false)
    equal((await entryOf(observed({ status: 299 }))).success, true)
  })

  test('knows streams by their type', async () => {
    const streamed = async (responseContentType: string | null) =>
      (await entryOf(observed({ responseContentType }))).streamed
    equal(await streamed('text/event-stream'), true)
    equal(await streamed('Text/Event-Stream; charset=utf-8'), true)
    equal(await streamed('application/x-ndjson'), true)
    equal(await streamed('text/event-streams'), false)
    equal(await streamed(null), false)
  })

  test('keeps no bodies where they are not to be kept, but reads them', async () => {
    const entry = await entryOf(observed({ keepsPayloads: false }))
    deepEqual([entry.request, entry.response], [null, null])
    deepEqual([entry.model, entry.tokensIn], ['gpt-4o', 12])
  })

  test('takes the model as it was planned, then as the request asked for it, then as the answer says', async () => {
    const modelOf = async (changes: Parameters<typeof observed>[0]) =>
      (await entryOf(observed(changes))).model
    equal(await modelOf({ model: 'planned' }), 'planned')
    equal(await modelOf({}), 'gpt-4o')
    equal(await modelOf({ path: '/v1beta/models/gemini-2.5-flash:generateContent' }), 'gemini-2.5-flash')
    equal(await modelOf({ path: '/openai/deployments/mine/chat/completions' }), 'mine')
    equal(await modelOf({ request: captured('{"model" : "a\\u002fb"}') }), 'a/b')
    equal(await modelOf({ request: captured('{"model":{"a":1}}') }), 'of-answer')
    equal(await modelOf({ request: null }), 'of-answer')
    equal(await modelOf({ request: null, response: null }), null)
  })

  test('cuts bodies at 64 KiB, between characters, and says so', async () => {
    const { request } = await entryOf(observed({ request: captured(`a${'é'.repeat(40_000)}`) }))
    equal(request!.text, `a${'é'.repeat(32_767)}`)
    equal(request!.isCut, true)
  })

  test('keeps what is no text as base64, and says so', async () => {
    const bytes = Buffer.from([0x61, 0xff])
    const { request, response } = await entryOf(
      observed({ request: captured(bytes), response: captured(bytes) }),
    )
    const payload = { text: bytes.toString('base64'), isCut: false, isBase64: true }
    deepEqual([request, response], [payload, payload])
  })

  test('takes for text what broke off within a character', async () => {
    const text = captured(Buffer.from('data: é').subarray(0, -1))
    const { request, response, providerResponse } = await entryOf(
      observed({ isWhole: false, request: text, response: text, relayed: captured('data: x') }),
    )
    const payload = { text: 'data: ', isCut: true }
    deepEqual([request, response!.text, providerResponse], [payload, 'data: x', payload])
    const whole = await entryOf(observed({ request: text }))
    equal(whole.request!.isBase64, true)
    const binary = captured(Buffer.from([0xff, 0x61, 0xc3]))
    const broken = await entryOf(observed({ isWhole: false, request: binary }))
    deepEqual(broken.request, { text: '/2HD', isCut: false, isBase64: true })
  })

  test('has what the provider sent next to what the caller got, where they differ', async () => {
    const sent = captured('{"usage":{}}')
    const differing = await entryOf(observed({ response: sent, relayed: captured('{"a":1}') }))
    deepEqual([differing.response!.text, differing.providerResponse!.text], ['{"a":1}', '{"usage":{}}'])
    equal(differing.tokensIn, 12)
    const same = await entryOf(observed({ response: sent, relayed: captured('{"usage":{}}') }))
    deepEqual([same.response!.text, same.providerResponse], ['{"usage":{}}', null])
    const spoilt = await entryOf(observed({ response: sent, relayed: captured('') }))
    deepEqual([spoilt.response, spoilt.providerResponse!.text], [null, '{"usage":{}}'])
  })
})

/** The best quality, as by default, takes seconds for a megabyte. */
const quickBrotli = (text: string) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })

describe('an encoded answer', () => {
  const text = JSON.stringify({ usage: 'é'.repeat(100) })
  const codings = [
    ['identity', (text: string) => Buffer.from(text)],
    ['gzip', gzipSync],
    ['X-GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', quickBrotli],
    ['zstd', zstdCompressSync],
  ] as const
  for (const [coding, compress] of codings) {
    test(`is decoded from ${coding}`, async () => {
      const response = captured(compress(text), true)
      const entry = await entryOf(observed({ responseEncoding: coding, response }))
      deepEqual(entry.response, { text, isCut: false })
      equal(entry.tokensIn, Buffer.byteLength(text))
    })

    test(`is read as far as it came, cut from ${coding}`, async () => {
      const long = Array.from({ length: 200_000 }, (_, i) => `${i} `).join('')
      const bytes = compress(long)
      const response = captured(bytes.subarray(0, bytes.length - 100), true)
      const entry = await entryOf(observed({ responseEncoding: coding, response, isWhole: false }))
      ok(entry.response!.text.length > 1000)
      ok(long.startsWith(entry.response!.text))
    })
  }

  test('is decoded from several codings, the last one first', async () => {
    for (const [codings, bytes] of [
      ['gzip, br', brotliCompressSync(gzipSync(text))],
      ['br,identity, GZIP', gzipSync(brotliCompressSync(text))],
    ] as const) {
      const response = captured(bytes, true)
      const entry = await entryOf(observed({ responseEncoding: codings, response }))
      deepEqual(entry.response, { text, isCut: false })
    }
    const bytes = gzipSync(gzipSync(gzipSync(gzipSync(text))))
    const response = captured(bytes, true)
    const many = await entryOf(observed({ responseEncoding: 'gzip, gzip, gzip, gzip', response }))
    equal(many.response!.text, bytes.toString('base64'))
  })

  test('is read up to 4 MiB, whatever it unfolds to', async () => {
    const response = captured(gzipSync(Buffer.alloc(50 * 1024 * 1024, 'a')), true)
    const entry = await entryOf(observed({ responseEncoding: 'gzip', response }))
    deepEqual([entry.response!.text.length, entry.response!.isCut], [64 * 1024, true])
    equal(entry.tokensOut, 8 * 1024)
  })

  test('is read to its end, of which the beginning may be kept as such', async () => {
    const endOf = async (size: number) => {
      const response = captured(gzipSync(Buffer.alloc(size, 'a')), true)
      return (await entryOf(observed({ responseEncoding: 'gzip', response }))).tokensOut
    }
    deepEqual([await endOf(64 * 1024), await endOf(64 * 1024 + 1)], [0, 8 * 1024])
  })

  test('is kept as base64 where its coding is not known, or its bytes are not of it', async () => {
    const bytes = gzipSync(text)
    const payload = { text: bytes.toString('base64'), isCut: false, isBase64: true }
    for (const responseEncoding of ['compress', 'gzip, br', 'br', 'constructor']) {
      const entry = await entryOf(observed({ responseEncoding, response: captured(bytes, true) }))
      deepEqual([entry.response, entry.tokensIn, entry.model], [payload, null, 'gpt-4o'])
    }
  })

  test('is decoded as a request, too, which then names its model', async () => {
    const asked = '{"model":"gpt-5"}'
    const request = captured(gzipSync(asked), true)
    const entry = await entryOf(observed({ requestEncoding: 'gzip', request }))
    deepEqual([entry.model, entry.request], ['gpt-5', { text: asked, isCut: false }])
    const unknown = await entryOf(observed({ requestEncoding: 'x', request }))
    deepEqual([unknown.model, unknown.request!.isBase64], ['of-answer', true])
  })
})
