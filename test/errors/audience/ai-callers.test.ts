import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeHtml } from '../../../src/base/text/html.ts'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { type WrittenResponse, written } from '../../../src/errors/audience/audience.ts'
import { compose } from '../../../src/errors/audience/people.ts'
import { AiCallers, aiCallers } from '../../../src/errors/audience/ai-callers.ts'
import { type Occasion, problem } from '../../../src/errors/catalogue/problem.ts'
import { type Facts, type Fault, refuse } from '../../../src/errors/catalogue/refusal.ts'
import { anyCharacter } from '../../help/any-text.ts'

const options = { documentation: 'http://127.0.0.1:8081/errors' }
const names = Object.keys(errorRows) as ErrorName[]
const rest = aiCallers('rest', 'openai')
const native = aiCallers('native', 'openai')
const messages = aiCallers('rest', 'anthropic')
const callers = [rest, native, messages, aiCallers('native', 'anthropic')]
const accepts = ['text/html', 'application/json', 'application/problem+json', 'text/markdown', 'text/plain']
const json = 'application/json'
const noToken: Fault = { code: 10000, message: 'Authentication error', pointer: null }

function occasionOf(facts: Partial<Occasion> = {}): Occasion {
  return { ray: '8f3c1e0a9b7d2c46', zone: '127.0.0.1', accept: null, time: 1_790_000_000_000, ...facts }
}

function answerTo(error: ErrorName, accept: string | null, caller = rest, facts?: Facts): WrittenResponse {
  return caller.compose(refuse(error, facts), occasionOf({ accept }), options)
}

function headersOf({ lines }: WrittenResponse): Readonly<Record<string, string>> {
  const pairs = lines
    .split('\r\n')
    .slice(0, -1)
    .map(line => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)] as const
    })
  assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, 'no header appears twice')
  return Object.fromEntries(pairs)
}

function recordOf(error: ErrorName) {
  return problem(refuse(error), occasionOf(), options.documentation)
}

test('every response carries the headers of an error, advice on retries, and a challenge where a token is asked for', () => {
  for (const name of names) {
    for (const caller of callers) {
      for (const accept of accepts) {
        for (const faults of [[], [noToken]]) {
          const answer = answerTo(name, accept, caller, { faults })
          const { 'content-type': _, 'content-security-policy': policy, ...headers } = headersOf(answer)
          const { retryAfter, status } = errorRows[name]
          assert.deepEqual(headers, {
            'content-length': String(Buffer.byteLength(answer.body)),
            'cache-control': 'private, no-store',
            vary: 'Accept',
            'x-content-type-options': 'nosniff',
            'x-frame-options': 'SAMEORIGIN',
            'referrer-policy': 'same-origin',
            'svc-ray': '8f3c1e0a9b7d2c46',
            'x-should-retry': String(retryAfter !== null),
            ...(retryAfter !== null && { 'retry-after': String(retryAfter) }),
            ...(status === 405 && { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' }),
            ...(status === 401 && { 'www-authenticate': 'Bearer' }),
          })
          assert.equal(policy !== undefined, answer.body.startsWith('<!doctype html>'))
          assert.match(answer.body, /^[\n\x20-\x7e]+$/)
        }
      }
    }
  }
})

test('status and reason phrase are those of any other response', () => {
  for (const name of names) {
    const { status, reason } = compose(refuse(name), occasionOf(), options)
    for (const faults of [[], [noToken]]) {
      const answer = answerTo(name, json, rest, { faults })
      assert.deepEqual([answer.status, answer.reason], [status, reason])
    }
  }
})

test('the record has two more members at its end, in JSON alone', () => {
  for (const name of names) {
    for (const accept of accepts) {
      const usual = compose(refuse(name), occasionOf({ accept }), options)
      const answer = answerTo(name, accept)
      assert.equal(headersOf(answer)['content-type'], headersOf(written(usual))['content-type'])
      if (!accept?.startsWith('application/')) {
        assert.equal(answer.body, usual.body)
        continue
      }
      const { detail, error_name: type, error_code: code } = recordOf(name)
      const more = { message: detail, error: { message: detail, type, code } }
      assert.equal(answer.body, JSON.stringify({ ...JSON.parse(usual.body), ...more }))
    }
  }
})

test('a response without faults is the same on both APIs and in both dialects, except for the type that readers of Messages need', () => {
  for (const accept of accepts) {
    const bodies = callers.map(caller => answerTo('service_unavailable', accept, caller).body)
    assert.equal(new Set(bodies).size, accept === json ? 2 : 1)
  }
  for (const name of names) {
    const usual = JSON.parse(answerTo(name, json).body)
    for (const api of ['rest', 'native'] as const) {
      const { body } = answerTo(name, json, aiCallers(api, 'anthropic'))
      assert.equal(body, JSON.stringify({ ...usual, type: 'error' }))
    }
  }
})

test('programs that name no format get JSON, and a page is for those that name it', () => {
  for (const accept of [
    null,
    '',
    '*/*',
    'text/event-stream',
    'application/json, text/plain, */*',
    'image/png',
  ]) {
    for (const caller of callers) {
      const answer = answerTo('origin_down', accept, caller)
      assert.equal(headersOf(answer)['content-type'], 'application/json; charset=utf-8', `${accept}`)
    }
  }
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const accept of ['text/html', browser, 'text/html, */*'])
    assert.equal(
      headersOf(answerTo('origin_down', accept))['content-type'],
      'text/html; charset=utf-8',
      accept,
    )
})

test('the envelope for a reader of Messages has the type of an error too', () => {
  const { body } = answerTo('unauthorized', json, messages, { faults: [noToken] })
  const { type, success, error } = JSON.parse(body)
  assert.deepEqual([type, success, error.message], ['error', false, 'Authentication error'])
})

test('an unreachable store has a wait', () => {
  const answer = answerTo('service_unavailable', json)
  assert.equal(answer.status, 503)
  assert.equal(headersOf(answer)['retry-after'], String(JSON.parse(answer.body).retry_after))
  assert.equal(headersOf(answer)['x-should-retry'], 'true')
})

test('the wait of a refusal is in the header and in the record', () => {
  const answer = answerTo('rate_limited', json, rest, { retryAfter: 416.5 })
  assert.equal(headersOf(answer)['retry-after'], '417')
  assert.equal(JSON.parse(answer.body).retry_after, 417)
})

test('a refused method gets the methods that are allowed', () => {
  const fault = { code: 7001, message: 'This address takes POST alone', pointer: null }
  for (const caller of callers) {
    const answer = answerTo('method_not_allowed', json, caller, { allow: 'POST', faults: [fault] })
    assert.equal(headersOf(answer).allow, 'POST')
  }
})

test('a call without a valid token gets the envelope of the management API on REST, whatever it accepts', () => {
  for (const accept of accepts) {
    const answer = answerTo('unauthorized', accept, rest, { faults: [noToken] })
    assert.equal(headersOf(answer)['content-type'], 'application/json')
    assert.deepEqual(JSON.parse(answer.body), {
      success: false,
      errors: [{ code: 10000, message: 'Authentication error' }],
      messages: [],
      result: null,
      message: 'Authentication error',
      error: { message: 'Authentication error', type: 'unauthorized', code: 401 },
    })
  }
})

test('a call without a valid token gets the error of AI gateways on provider-native routes, byte for byte', () => {
  for (const accept of accepts) {
    const faults = [{ code: 2009, message: 'Unauthorized', pointer: null }]
    const answer = answerTo('unauthorized', accept, native, { faults })
    assert.equal(headersOf(answer)['content-type'], 'application/json')
    assert.equal(
      answer.body,
      '{"success":false,"result":[],"messages":[],"error":[{"code":2009,"message":"Unauthorized"}],"name":"AiGatewayError","internalCode":2009}',
    )
  }
})

test('every fault is reported in order, with the member that it is about', () => {
  const faults: readonly Fault[] = [
    { code: 10001, message: 'logprobs cannot be translated', pointer: '/logprobs' },
    { code: 10002, message: 'n must be 1', pointer: '/n' },
    { code: 10003, message: 'the whole is odd', pointer: null },
  ]
  const told = [
    { code: 10001, message: 'logprobs cannot be translated', source: { pointer: '/logprobs' } },
    { code: 10002, message: 'n must be 1', source: { pointer: '/n' } },
    { code: 10003, message: 'the whole is odd' },
  ]
  const onRest = JSON.parse(answerTo('bad_request', json, rest, { faults }).body)
  assert.deepEqual(onRest.errors, told)
  assert.equal(onRest.message, 'logprobs cannot be translated; n must be 1; the whole is odd')
  assert.equal(onRest.error.message, onRest.message)
  const onNative = JSON.parse(answerTo('bad_request', json, native, { faults }).body)
  assert.deepEqual(onNative, onRest)
})

test('a fault is read by who asks for a page or Markdown, with every character in its place', () => {
  const message = 'Unknown model "<b>ö\u{1f600}&": a'
  const refusal = { faults: [{ code: 7003, message, pointer: null }] }
  for (const caller of callers) {
    const page = answerTo('not_found', 'text/html', caller, refusal)
    assert.equal(headersOf(page)['content-type'], 'text/html; charset=utf-8')
    assert.match(page.body, /<h1>The call was refused<\/h1>/)
    const shown = 'Unknown model "<b>\\u00f6\\ud83d\\ude00&": a.'
    assert.ok(page.body.includes(`<p>${escapeHtml(shown)}</p>`), page.body)
    const text = answerTo('not_found', 'text/markdown', caller, refusal)
    assert.equal(headersOf(text)['content-type'], 'text/markdown; charset=utf-8')
    assert.ok(text.body.includes(`\n${shown}\n`), text.body)
    assert.match(text.body, /\*\*Do not retry\.\*\*/)
    const terminal = answerTo('not_found', 'text/plain', caller, refusal)
    assert.equal(headersOf(terminal)['content-type'], 'text/plain; charset=utf-8')
    assert.ok(terminal.body.includes(`\n${shown}\n\nDo not retry. `), terminal.body)
    for (const { body } of [page, text, terminal]) assert.match(body, /^[\n\x20-\x7e]+$/)
  }
})

test('no fault, whatever it quotes, breaks out of its place', () => {
  const text = fc.string({ unit: anyCharacter })
  const anyFault = fc.record({ code: fc.nat(99_999), message: text, pointer: fc.option(text) })
  const anyCaller = fc.constantFrom(...callers)
  fc.assert(
    fc.property(
      fc.array(anyFault, { minLength: 1 }),
      anyCaller,
      fc.constantFrom(...accepts),
      (faults, caller, accept) => {
        const shown = answerTo('bad_request', accept, caller, { faults })
        assert.match(shown.body, /^[\n\x20-\x7e]+$/)
        if (!accept.startsWith('application/')) return
        const { body } = answerTo('bad_request', json, caller, { faults })
        assert.match(body, /^[\x20-\x7e]+$/)
        const envelope = JSON.parse(body)
        const told: readonly { message: string; source?: { pointer: string } }[] =
          envelope.errors ?? envelope.error
        assert.deepEqual(
          told.map(({ message, source }) => [message, source?.pointer ?? null]),
          faults.map(({ message, pointer }) => [message, pointer]),
        )
      },
    ),
  )
})

test('no host that a client sends breaks out of its place', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), zone => {
      const occasion = occasionOf({ zone, accept: json })
      const { body } = rest.compose(refuse('origin_down'), occasion, options)
      assert.match(body, /^[\x20-\x7e]+$/)
      assert.equal(JSON.parse(body).zone, zone)
      for (const caller of callers) {
        const event = caller.composeEvent(refuse('origin_down'), occasion, options)
        const [, data] = /^(?:event: error\n)?data: ([\x20-\x7e]+)\n\n$/.exec(event)!
        assert.equal(JSON.parse(data!).zone, zone)
      }
    }),
  )
})

test('a stream for a caller of OpenAI ends with an error and the record', () => {
  for (const name of names) {
    const event = rest.composeEvent(refuse(name), occasionOf(), options)
    const record = recordOf(name)
    const error = { message: record.detail, type: name, code: record.error_code }
    assert.equal(event, `data: ${JSON.stringify({ error, ...record })}\n\n`)
  }
})

test('a stream for a caller of Anthropic ends with an event of its error type and the rest of the record', () => {
  for (const name of names) {
    const event = messages.composeEvent(refuse(name), occasionOf(), options)
    const { type: _, ...record } = recordOf(name)
    const error = { type: name, message: record.detail }
    assert.equal(event, `event: error\ndata: ${JSON.stringify({ type: 'error', error, ...record })}\n\n`)
  }
})

test('what is composed once for a flood of calls is what each would have got, whatever came before', () => {
  const kinds: readonly ConstructorParameters<typeof AiCallers>[] = [
    ['rest', 'openai'],
    ['native', 'openai'],
    ['rest', 'anthropic'],
    ['native', 'anthropic'],
  ]
  const refusals = [
    refuse('unauthorized', { faults: [noToken] }),
    refuse('unauthorized', { faults: [{ ...noToken, code: 2014, message: 'Forbidden' }] }),
    refuse('rate_limited', { faults: [noToken], retryAfter: 7 }),
  ]
  const call = fc.record({
    refusal: fc.constantFrom(...refusals),
    challenge: fc.constantFrom(null, 'Bearer', 'Bearer error="invalid_token"'),
    kind: fc.constantFrom(...kinds),
    ray: fc.stringMatching(/^[0-9a-f]{16}$/),
  })
  fc.assert(
    fc.property(fc.array(call), calls => {
      for (const { refusal, challenge, kind, ray } of calls) {
        const asked = { ...options, challenge }
        const response = aiCallers(...kind).compose(refusal, occasionOf({ ray }), asked)
        assert.deepEqual(response, new AiCallers(...kind).compose(refusal, occasionOf({ ray }), asked))
        const { type, result } = JSON.parse(response.body)
        assert.equal(type, kind[1] === 'anthropic' ? 'error' : undefined)
        assert.ok(kind[0] === 'native' ? result !== undefined : result === null)
        assert.match(response.body, new RegExp(refusal.faults[0]!.message))
      }
    }),
  )
})
