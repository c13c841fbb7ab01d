import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import type { ErrorResponse, Options } from '../../../src/errors/audience/audience.ts'
import { compose, composeEvent } from '../../../src/errors/audience/people.ts'
import { type Occasion, problem } from '../../../src/errors/catalogue/problem.ts'
import { type Facts, refusalFor, refuse, retryAfterOf } from '../../../src/errors/catalogue/refusal.ts'
import { renderHtml } from '../../../src/errors/render/html.ts'
import { renderJson } from '../../../src/errors/render/json.ts'
import { renderMarkdown } from '../../../src/errors/render/markdown.ts'
import { renderPlain } from '../../../src/errors/render/plain.ts'
import { anyCharacter } from '../../help/any-text.ts'

const options = { documentation: 'http://127.0.0.1:8081/errors' }
const names = Object.keys(errorRows) as ErrorName[]
const accepts = ['text/html', 'application/json', 'application/problem+json', 'text/markdown', 'text/plain']

function occasionOf(facts: Partial<Occasion> = {}): Occasion {
  return { ray: '8f3c1e0a9b7d2c46', zone: 'www.example.com', accept: null, time: 1_790_000_000_000, ...facts }
}

function answerTo(error: ErrorName, accept: string | null, facts?: Facts): ErrorResponse {
  return compose(refuse(error, facts), occasionOf({ accept }), options)
}

function headersOf({ headers }: ErrorResponse): Readonly<Record<string, string>> {
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1]!]] : []))
  assert.equal(new Set(pairs.map(([name]) => name)).size, headers.length / 2, 'no header stands twice')
  return Object.fromEntries(pairs)
}

function frontmatterOf(markdown: string): Readonly<Record<string, unknown>> {
  return parse(markdown.split(/^---$/m)[1]!)
}

test('the format follows Accept, and has its media type', () => {
  assert.deepEqual(
    [null, ...accepts].map(accept => headersOf(answerTo('origin_down', accept))['content-type']),
    [
      'text/html; charset=utf-8',
      'text/html; charset=utf-8',
      'application/json; charset=utf-8',
      'application/problem+json; charset=utf-8',
      'text/markdown; charset=utf-8',
      'text/plain; charset=utf-8',
    ],
  )
})

test('every response carries the headers of an error', () => {
  for (const name of names) {
    for (const accept of accepts) {
      const answer = answerTo(name, accept)
      const { 'content-type': type, 'content-security-policy': policy, ...headers } = headersOf(answer)
      const { retryAfter: wait, status } = errorRows[name]
      assert.deepEqual(headers, {
        'content-length': String(Buffer.byteLength(answer.body)),
        'cache-control': 'private, no-store',
        vary: 'Accept',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
        'referrer-policy': 'same-origin',
        'svc-ray': '8f3c1e0a9b7d2c46',
        ...(wait !== null && { 'retry-after': String(wait) }),
        ...(status === 405 && { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' }),
      })
      assert.equal(policy !== undefined, type?.startsWith('text/html'))
    }
  }
})

test('every body is ASCII in every format, so that its length is its Content-Length', () => {
  for (const name of names) {
    for (const accept of accepts) {
      assert.match(answerTo(name, accept).body, /^[\n\x20-\x7e]+$/, `${name} as ${accept}`)
    }
  }
})

test('every error can be read back from JSON and from Markdown as the same record', () => {
  for (const name of names) {
    const json = JSON.parse(answerTo(name, 'application/json').body)
    const { type, title, detail, instance, what_you_should_do, footer, ...rest } = json
    assert.equal(json.error_name, name)
    assert.deepEqual(frontmatterOf(answerTo(name, 'text/markdown').body), rest)
  }
})

test('application/json and application/problem+json have the same bytes', () => {
  for (const name of names) {
    assert.equal(answerTo(name, 'application/json').body, answerTo(name, 'application/problem+json').body)
  }
})

test('a response from a template equals what the renderer writes', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,60}[a-z0-9])?$/)
  const hex = fc.stringMatching(/^[0-9a-f]{16}$/)
  const wait = fc.integer({ min: 1, max: 10 ** 7 })
  const time = fc.integer({ min: 0, max: 4_102_444_800_000 })
  fc.assert(
    fc.property(fc.constantFrom(...names), label, hex, wait, time, (name, zone, ray, retryAfter, time) => {
      const refusal = refuse(name, { retryAfter })
      const occasion = occasionOf({ zone, ray, time })
      const record = problem(refusal, occasion, options.documentation)
      const write = (accept: string) => compose(refusal, { ...occasion, accept }, options).body
      assert.equal(write('application/json'), renderJson(record))
      assert.equal(write('text/markdown'), renderMarkdown(record))
      assert.equal(write('text/plain'), renderPlain(record))
      assert.equal(write('text/html'), renderHtml(record))
    }),
  )
})

test('no host that a client sends breaks out of its place', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), zone => {
      const write = (accept: string) => compose(refusalFor('522'), occasionOf({ zone, accept }), options)
      for (const accept of accepts) assert.match(write(accept).body, /^[\t\r\n\x20-\x7e]+$/)
      const json = write('application/json').body
      assert.equal(JSON.parse(json).zone, zone)
      assert.doesNotMatch(json, /\n/)
      const { zone: _, ...others } = frontmatterOf(write('text/markdown').body)
      assert.equal(others.error_code, 522)
      assert.equal(Object.keys(others).length, 10)
      assert.equal(write('text/plain').body.split('\n').length, 21)
    }),
  )
})

test('a host with markup stays text in the page', () => {
  for (const character of ['<', '>', '&', '"', "'"]) {
    const zone = `a${character}b`
    const { body } = compose(refusalFor('522'), occasionOf({ zone }), options)
    assert.ok(body.includes(`<dd>a&#${character.charCodeAt(0)};b</dd>`), zone)
  }
})

test('a wait of one second reads right', () => {
  for (const name of names) {
    for (const accept of accepts)
      assert.doesNotMatch(answerTo(name, accept, { retryAfter: 1 }).body, /\b1 seconds/, name)
  }
})

test('the wait of a rule is in the header and in every body', () => {
  for (const accept of accepts) {
    const answer = answerTo('rate_limited', accept, { retryAfter: 416.5 })
    assert.equal(headersOf(answer)['retry-after'], '417')
    assert.match(answer.body, /\b417 s\b/)
    assert.doesNotMatch(answer.body, /\b30 s\b/)
  }
  assert.equal(
    JSON.parse(answerTo('rate_limited', 'application/json', { retryAfter: 416.5 }).body).retry_after,
    417,
  )
})

test('an error that is not retryable has no wait anywhere', () => {
  for (const name of names.filter(name => retryAfterOf(refuse(name)) === null)) {
    assert.ok(!('retry-after' in headersOf(answerTo(name, null, { retryAfter: 9 }))))
    assert.doesNotMatch(answerTo(name, 'application/json').body, /retry_after/)
    assert.doesNotMatch(answerTo(name, 'text/markdown').body, /retry_after/)
    assert.doesNotMatch(answerTo(name, 'text/html').body, /id="wait"/)
  }
})

test('the reason phrase of 520 to 530 is the title, and that of others is the one of RFC 9110', () => {
  const reasons = (
    [
      'connection_timeout',
      'tunnel_error',
      'rate_limited',
      'legal_block',
      'bad_request',
      'content_too_large',
    ] as const
  ).map(name => {
    const { status, reason } = answerTo(name, null)
    return `${status} ${reason}`
  })
  assert.deepEqual(reasons, [
    '522 Connection timed out',
    '530 Tunnel error',
    '429 Too Many Requests',
    '451 Unavailable For Legal Reasons',
    '400 Bad Request',
    '413 Content Too Large',
  ])
})

test('a refused method gets the methods that are allowed', () => {
  const answer = answerTo('method_not_allowed', null, { allow: 'GET, HEAD' })
  assert.equal(answer.status, 405)
  assert.equal(headersOf(answer).allow, 'GET, HEAD')
})

test('an unknown code is 404 in the format that is accepted', () => {
  const answer = compose(refusalFor('9999'), occasionOf({ accept: 'application/json' }), options)
  assert.equal(answer.status, 404)
  assert.equal(JSON.parse(answer.body).error_name, 'not_found')
})

test('each documentation base has responses of its own', () => {
  const typeAt = (documentation: string) =>
    JSON.parse(compose(refusalFor('522'), occasionOf({ accept: 'application/json' }), { documentation }).body)
      .type
  assert.equal(typeAt('https://a.example/errors'), 'https://a.example/errors/522')
  assert.equal(typeAt('https://b.example/"docs"'), 'https://b.example/"docs"/522')
})

test('the time moves on, also back', () => {
  const at = (time: number) =>
    JSON.parse(compose(refusalFor('522'), occasionOf({ accept: 'application/json', time }), options).body)
      .timestamp
  assert.deepEqual(
    [at(1_000_999), at(1_001_000), at(1_000_999)],
    ['1970-01-01T00:16:40Z', '1970-01-01T00:16:41Z', '1970-01-01T00:16:40Z'],
  )
})

test('a stream ends with an event that holds the record', () => {
  const event = composeEvent(refuse('origin_unknown_error'), occasionOf(), options)
  const [, data] = /^event: error\ndata: (.*)\n\n$/.exec(event)!
  assert.equal(data, answerTo('origin_unknown_error', 'application/json').body)
})

test('a page names its operator, and any text comes out as it was set', () => {
  const samples = [
    '51a051a051a051a0',
    'sample.invalid',
    '5107000',
    '2001-02-03',
    '04:05:06',
    '<b>"&\'`',
    'Ł 😀',
    '\u212a\u017f', // letters of ASCII to a pattern that ignores case
  ]
  const text = fc.oneof(fc.constantFrom(...samples), fc.string({ unit: 'grapheme', minLength: 1 }))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), fc.array(text, { minLength: 1 }), (names, contacts) => {
      const operator = { name: names.join(''), logo: null, contact: contacts.join('') }
      const { body } = compose(refuse('origin_down'), occasionOf(), { ...options, operator })
      assert.match(body, /^[\n\x20-\x7e]+$/)
      assert.equal(readBack(/<p class="operator">(.*?)<\/p>/.exec(body)![1]!), wellFormed(operator.name))
      assert.equal(readBack(/<dt>Contact<\/dt><dd>(.*?)<\/dd>/.exec(body)![1]!), wellFormed(operator.contact))
    }),
  )
})

function readBack(markup: string): string {
  return markup.replace(/&#(\d+);/g, (_, point) => String.fromCodePoint(Number(point)))
}

/** What no page can hold, halves of surrogate pairs and control characters, is replaced. */
function wellFormed(text: string): string {
  return text.toWellFormed().replace(/\p{Cc}/gu, '\ufffd')
}

test('the policy of a page with a logo allows the origin of that, and no other page changes', () => {
  const operator = { name: 'Tea', logo: 'https://cdn.example:8443/a.svg?v=1', contact: null }
  const page = (options: Options) => compose(refuse('origin_down'), occasionOf(), options)
  const bare = page(options)
  const policyOf = (answer: ErrorResponse) => headersOf(answer)['content-security-policy']!
  const policy = policyOf(page({ ...options, operator }))
  assert.match(policy, /; img-src data: https:\/\/cdn\.example:8443; /)
  assert.equal(policy.replace(' https://cdn.example:8443', ''), policyOf(bare))
  assert.deepEqual(page({ ...options, operator: { ...operator, logo: null, name: null } }), bare)
  for (const accept of accepts.slice(1)) {
    const write = (options: Options) => compose(refuse('origin_down'), occasionOf({ accept }), options)
    assert.deepEqual(write({ ...options, operator }), write(options))
  }
})

test('an e-mail address and a URL are links, any other contact is text', () => {
  const linkOf = (contact: string) => {
    const operator = { name: null, logo: null, contact }
    const { body } = compose(refuse('origin_down'), occasionOf(), { ...options, operator })
    return readBack(/<dt>Contact<\/dt><dd>(?:<a href="(.*?)">)?/.exec(body)![1] ?? '')
  }
  assert.equal(linkOf('help+web@tea.example'), 'mailto:help+web@tea.example')
  assert.equal(linkOf('https://status.tea.example/?a=1&b'), 'https://status.tea.example/?a=1&b')
  for (const text of [
    'javascript:alert(1)',
    'help@tea',
    'a@b.example?bcc=c@d.example',
    'see https://a.example',
  ])
    assert.equal(linkOf(text), '')
})
