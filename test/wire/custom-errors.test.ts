// Custom error rules and Error Pages in place of our records: the table of precedence as clients see it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomErrorsConfig } from '../../src/config/model/custom-errors-config.ts'
import { errorRule as rule } from '../help/custom-errors.ts'
import { type EdgeSettings, noCustomErrors, recordOf, startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { type Message, request } from '../help/raw.ts'

const dead = ['http://127.0.0.1:1']
const accepts = {
  json: 'Accept: application/json',
  markdown: 'Accept: text/markdown',
  html: 'Accept: text/html',
  absent: 'X-None: 1',
}
type Asked = keyof typeof accepts

const forJson = rule({
  expression:
    'response.code == 521 && request.headers[?"accept"].orValue([]).exists(a, a.contains("application/json"))',
  content: '{"by":"rule","ray":"::RAY_ID::"}',
  contentType: 'application/json',
})
const page = '<!doctype html><title>Sorry</title><h1>By page</h1>'
const pages = { '500_errors': page }

const table: readonly {
  readonly name: string
  readonly custom: Partial<CustomErrorsConfig>
  readonly expected: Readonly<Record<Asked, 'json' | 'markdown' | 'html' | 'page' | 'rule'>>
}[] = [
  {
    name: 'no Error Page, no rules',
    custom: {},
    expected: { json: 'json', markdown: 'markdown', html: 'html', absent: 'html' },
  },
  {
    name: 'an Error Page, no rules',
    custom: { pages },
    expected: { json: 'page', markdown: 'page', html: 'page', absent: 'page' },
  },
  {
    name: 'a rule that matches Accept',
    custom: { rules: [forJson] },
    expected: { json: 'rule', markdown: 'markdown', html: 'html', absent: 'html' },
  },
  {
    name: 'a rule that matches Accept and an Error Page',
    custom: { rules: [forJson], pages },
    expected: { json: 'rule', markdown: 'page', html: 'page', absent: 'page' },
  },
  {
    name: 'a rule that matches everything and an Error Page',
    custom: { rules: [{ ...forJson, expression: 'true' }], pages },
    expected: { json: 'rule', markdown: 'rule', html: 'rule', absent: 'rule' },
  },
  {
    name: 'a rule that matches nothing and an Error Page',
    custom: { rules: [{ ...forJson, expression: 'error.code == 522' }], pages },
    expected: { json: 'page', markdown: 'page', html: 'page', absent: 'page' },
  },
]

const levels: Readonly<Record<string, (custom: Partial<CustomErrorsConfig>) => EdgeSettings>> = {
  zone: custom => ({ zone: { errors: { ...noCustomErrors, ...custom } } }),
  account: custom => ({ errors: custom }),
}

/** Tells whose words an answer has, after looking at what all of them have in common. */
function voiceOf(answer: Message): string {
  assert.equal(answer.startLine, 'HTTP/1.1 521 Web server is down')
  assert.equal(answer.field('retry-after'), '120')
  assert.match(answer.field('svc-ray')!, /^[0-9a-f]{16}$/)
  assert.equal(answer.field('cache-control'), 'private, no-store')
  assert.equal(answer.field('vary'), 'Accept')
  assert.equal(answer.field('x-content-type-options'), 'nosniff')
  assert.equal(answer.field('x-frame-options'), 'SAMEORIGIN')
  assert.equal(answer.field('referrer-policy'), 'same-origin')
  assert.equal(answer.field('content-length'), String(answer.body.length))
  const type = answer.field('content-type')
  const policy = answer.field('content-security-policy')
  if (answer.text === page) {
    assert.deepEqual([type, policy], ['text/html; charset=utf-8', null])
    return 'page'
  }
  if (answer.text === `{"by":"rule","ray":"${answer.field('svc-ray')}"}`) {
    assert.deepEqual([type, policy], ['application/json', null])
    return 'rule'
  }
  assert.equal(policy !== null, type === 'text/html; charset=utf-8')
  return /(json|markdown|html); charset=utf-8$/.exec(type!)![1]!
}

for (const [level, settingsOf] of Object.entries(levels))
  for (const { name, custom, expected } of table)
    test(`${name}, of the ${level}`, async t => {
      const edge = await startEdge(t, dead, settingsOf(custom))
      const given: Record<string, string> = {}
      for (const [asked, accept] of Object.entries(accepts)) {
        const raised = voiceOf(await edge.ask(request('GET /', accept)))
        const previewed = voiceOf(await edge.ask(request('GET /cdn-cgi/error/521', accept)))
        assert.equal(previewed, raised)
        given[asked] = raised
      }
      assert.deepEqual(given, expected)
    })

const says = (content: string) => rule({ content })
const zoneOnly = { rules: [says('zone rule')], pages: { '500_errors': 'zone page' } }
const accountOnly = { rules: [says('account rule')], pages: { '500_errors': 'account page' } }
const nothing = { rules: [], pages: {} }

test('rules come before pages, and each time those of the zone before those of the account', async t => {
  const told = async (zone: CustomErrorsConfig, account: CustomErrorsConfig) => {
    const edge = await startEdge(t, dead, { zone: { errors: zone }, errors: account })
    const { text } = await edge.ask(request('GET /'))
    const counted = Object.entries(edge.metrics.customErrors).filter(([, { value }]) => value > 0)
    return [text.startsWith('<!doctype') ? 'default' : text, ...counted.map(([source]) => source)]
  }
  const pagesOf = ({ pages }: CustomErrorsConfig) => ({ rules: [], pages })
  assert.deepEqual(await told(zoneOnly, accountOnly), ['zone rule', 'zone_rule'])
  assert.deepEqual(await told(pagesOf(zoneOnly), accountOnly), ['account rule', 'account_rule'])
  assert.deepEqual(await told(pagesOf(zoneOnly), pagesOf(accountOnly)), ['zone page', 'zone_page'])
  assert.deepEqual(await told(nothing, pagesOf(accountOnly)), ['account page', 'account_page'])
  assert.deepEqual(await told(nothing, nothing), ['default'])
})

test('the first rule that matches wins', async t => {
  const rules = [rule({ expression: 'error.name == "origin_bad_gateway"' }), says('second'), says('third')]
  const edge = await startEdge(t, dead, { zone: { errors: { rules, pages: {} } } })
  assert.equal((await edge.ask(request('GET /'))).text, 'second')
})

test('a rule may set the status, and everything else of the error stays', async t => {
  const phrases: readonly [number, string][] = [
    [404, 'Not Found'],
    [413, 'Content Too Large'],
    [522, 'Connection timed out'],
    [530, 'Custom Error'],
    [599, 'Custom Error'],
    [999, 'Custom Error'],
  ]
  for (const [status, phrase] of phrases) {
    const edge = await startEdge(t, dead, { errors: { rules: [rule({ status })] } })
    const answer = await edge.ask(request('GET /'))
    assert.equal(answer.startLine, `HTTP/1.1 ${status} ${phrase}`)
    assert.equal(answer.field('retry-after'), '120')
    assert.equal(edge.accesses.at(-1)!.status, status)
    assert.equal(edge.metrics.errors[521], 1)
  }
})

test('a rule sees the error, the request and the zone', async t => {
  const expression =
    'error.code == 521 && error.category == "origin" && response.code == 521 && zone == "site" && request.method == "PUT" && request.path == "/a" && request.query == "b=1"'
  const edge = await startEdge(t, dead, { errors: { rules: [rule({ expression })] } })
  assert.equal((await edge.ask(request('PUT /a?b=1', 'Content-Length: 0'))).text, 'custom')
  assert.notEqual((await edge.ask(request('PUT /a?b=2', 'Content-Length: 0'))).text, 'custom')
})

test('HEAD gets the same fields, and no body', async t => {
  const edge = await startEdge(t, dead, { zone: { errors: { rules: [forJson], pages } } })
  for (const accept of Object.values(accepts)) {
    const client = await edge.connect()
    await client.send(request('GET /', accept))
    const whole = await client.response()
    await client.send(request('HEAD /', accept))
    const head = await client.response('HEAD')
    const fieldsOf = ({ lines }: Message) => lines.filter(line => !/^(svc-ray|date):/i.test(line))
    assert.equal(head.startLine, whole.startLine)
    assert.deepEqual(fieldsOf(head), fieldsOf(whole))
    assert.equal(head.body.length, 0)
    assert.ok(whole.body.length > 0)
    client.leave()
  }
})

test('content beyond ASCII is counted in bytes, and its connection stays open', async t => {
  const content = 'Désolé – ごめん 🙇 ::CLIENT_IP::'
  const edge = await startEdge(t, dead, { errors: { rules: [rule({ content })] } })
  const client = await edge.connect()
  for (let i = 0; i < 2; i++) {
    await client.send(request('GET /'))
    const answer = await client.response()
    assert.equal(answer.body.toString('utf8'), 'Désolé – ごめん 🙇 127.0.0.1')
    assert.equal(answer.field('content-type'), 'text/plain; charset=utf-8')
  }
  assert.equal(client.unread, '')
})

test('an Error Page of the largest size arrives whole', async t => {
  const html = `<p>${'x'.repeat(1_499_980)}</p>::RAY_ID::`
  const edge = await startEdge(t, dead, { errors: { pages: { '500_errors': html } } })
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.text, html.replace('::RAY_ID::', answer.field('svc-ray')!))
})

test('tokens show the client behind a trusted proxy', async t => {
  const rules = [rule({ content: '::CLIENT_IP:: [::GEO::]' })]
  const edge = await startEdge(t, dead, { errors: { rules }, trustedProxies: ['127.0.0.1'] })
  const told = async (value: string) => (await edge.ask(request('GET /', `X-Forwarded-For: ${value}`))).text
  assert.equal(await told('2001:0DB8:0:0::7'), '2001:db8::7 []')
  assert.equal(await told('<script>alert(1)</script>'), '127.0.0.1 []')
})

test('what is outside of all zones has the content of the account', async t => {
  const edge = await startEdge(t, dead, {
    zone: { errors: zoneOnly },
    errors: {
      rules: [rule({ expression: 'error.code != 400', content: 'account: ::RAY_ID::' }), forJsonOf(400)],
    },
  })
  const elsewhere = await edge.ask('GET / HTTP/1.1\r\nHost: other.test\r\n\r\n')
  assert.equal(elsewhere.status, 409)
  assert.equal(elsewhere.text, `account: ${elsewhere.field('svc-ray')}`)
  const spoilt = await edge.ask(
    'GET / HTTP/1.1\r\nHost: site.test\r\nA b: c\r\nAccept: application/json\r\n\r\n',
  )
  assert.equal(spoilt.status, 400)
  assert.equal(spoilt.text, '{}')
})

function forJsonOf(code: number) {
  const expression = `error.code == ${code} && request.headers["accept"] == ["application/json"]`
  return rule({ expression, content: '{}', contentType: 'application/json' })
}

test('a page never replaces errors of HTTP, nor those of hosts without a zone', async t => {
  const all = ['500_errors', '1000_errors', 'ip_block', 'country_challenge', 'waf_block', 'ratelimit_block']
  const pages = Object.fromEntries(all.map(type => [type, 'page']))
  const edge = await startEdge(t, dead, { errors: { pages }, zone: { errors: { rules: [], pages } } })
  const json = 'Accept: application/json'
  assert.equal(recordOf(await edge.ask(request('TRACE /', json))).error_code, 405)
  assert.equal(recordOf(await edge.ask(request('GET /cdn-cgi/error/9999', json))).error_code, 404)
  assert.equal(
    recordOf(await edge.ask(`GET / HTTP/1.1\r\nHost: other.test\r\n${json}\r\n\r\n`)).error_code,
    1001,
  )
  assert.equal((await edge.ask(request('GET /cdn-cgi/error/1020', json))).text, 'page')
})

test('custom content comes with the allowed methods', async t => {
  const edge = await startEdge(t, dead, { errors: { rules: [rule({})] } })
  const answer = await edge.ask(request('TRACE /'))
  assert.equal(answer.text, 'custom')
  assert.match(answer.field('allow')!, /\bGET\b/)
})

test('custom content comes with the wait of a rate limit and its fields', async t => {
  const few = { name: 'few', limit: 1, period: 60_000, key: [], when: null, action: 'block' as const }
  const pages = { ratelimit_block: 'slow down ::SVC_ERROR_1000S_BOX::' }
  const origin = await startResponder(t, ok('hello'))
  const edge = await startEdge(t, [origin.url], { rateLimits: [few], errors: { pages } })
  assert.equal((await edge.ask(request('GET /'))).text, 'hello')
  const answer = await edge.ask(request('GET /', 'Accept: application/json'))
  assert.match(answer.text, /^slow down <section/)
  const wait = Number(answer.field('retry-after'))
  assert.ok(wait >= 1, String(wait))
  assert.ok(answer.text.includes(` ${wait} s`))
  assert.match(answer.field('ratelimit')!, /"few"/)
  assert.match(answer.field('ratelimit-policy')!, /"few"/)
})

test('a broken rule and a broken page hide nothing, and are counted', async t => {
  const edge = await startEdge(t, dead, {
    zone: {
      errors: {
        rules: [
          rule({ expression: 'error.code ==' }),
          rule({ expression: 'request.headers["x-missing"] == ["1"]' }),
          rule({ status: 200 }),
          rule({ content: 'x'.repeat(10 * 1024 + 1) }),
        ],
        pages: { '500_errors': ' \n' },
      },
    },
  })
  assert.equal(edge.metrics.customErrorFailures.value, 4)
  const answer = await edge.ask(request('GET /', 'Accept: application/json'))
  assert.equal(recordOf(answer).error_code, 521)
  assert.equal(edge.metrics.expressionFailures.errors.value, 1)
})

test('a request that passes evaluates no error rules', async t => {
  const origin = await startResponder(t, ok('hello'))
  const edge = await startEdge(t, [origin.url], { errors: accountOnly })
  assert.equal((await edge.ask(request('GET /'))).text, 'hello')
})

test('an error of the origin passes as it is', async t => {
  const origin = await startResponder(t, 'HTTP/1.1 522 Mine\r\nContent-Length: 4\r\n\r\nmine')
  const edge = await startEdge(t, [origin.url], { errors: accountOnly, zone: { errors: zoneOnly } })
  const answer = await edge.ask(request('GET /'))
  assert.deepEqual([answer.status, answer.text], [522, 'mine'])
})

test('the page names the operator of the zone, or outside of zones that of all, and not to programs', async t => {
  const operator = (name: string) => ({ name, logo: null, contact: null })
  const zone = { errors: { ...noCustomErrors, operator: operator('of the zone') } }
  const edge = await startEdge(t, dead, { zone, errors: { operator: operator('of all') } })
  const named = async (text: string) =>
    /class="operator">(.*?)</.exec((await edge.ask(text)).text)?.[1] ?? null
  assert.equal(await named(request('GET /', 'Accept: text/html')), 'of the zone')
  assert.equal(await named('GET / HTTP/1.1\r\nHost: other.test\r\nAccept: text/html\r\n\r\n'), 'of all')
  assert.equal(await named(request('GET /', 'Accept: application/json')), null)
})
