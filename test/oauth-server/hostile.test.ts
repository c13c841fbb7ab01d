// Hostile parameters for each endpoint: none makes a 5xx, and no markup of theirs comes back as markup.

import assert from 'node:assert/strict'
import { Agent, request, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { reset } from '../../src/net/socket/reset.ts'
import { anyCharacter } from '../help/any-text.ts'
import { until } from '../help/until.ts'
import { thorough } from '../help/thorough.ts'
import { tokensOf, visit } from './app.ts'
import { callback, startSite } from './site.ts'

/** Twenty parameters in each request; then a few in each of as many that are good but for those. */
const requests = thorough(500, 80)
const parameters = 20

const names = [
  ...[
    'client_id',
    'client_secret',
    'response_type',
    'response_mode',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
  ],
  ...[
    'prompt',
    'max_age',
    'login_hint',
    'id_token_hint',
    'acr_values',
    'claims',
    'claims_locales',
    'ui_locales',
  ],
  ...[
    'display',
    'resource',
    'request',
    'request_uri',
    'registration',
    'code_challenge',
    'code_challenge_method',
  ],
  ...[
    'grant_type',
    'code',
    'code_verifier',
    'refresh_token',
    'token',
    'token_type_hint',
    'access_token',
    'dpop_jkt',
  ],
  ...[
    'client_assertion',
    'client_assertion_type',
    'post_logout_redirect_uri',
    'logout',
    'xsrf',
    'gatehouse_rules',
  ],
  ...[
    'authorization_details',
    'web_message_uri',
    'user_code',
    '__proto__',
    'constructor',
    'a[b]',
    'toString',
  ],
]

const markup = fc.constantFrom(
  '<hostile>',
  '"><hostile onload=x>',
  "'><hostile/>",
  '</title><hostile>',
  '</script><hostile>',
  '&lt;hostile><hostile>',
  'javascript:<hostile>',
)

const hostile = fc.oneof(
  markup,
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.tuple(fc.string({ unit: anyCharacter, maxLength: 10 }), markup).map(parts => parts.join('')),
  fc.constantFrom(
    '',
    '\0',
    '\r\nset-cookie: a=b',
    '{"a":',
    '[]',
    'null',
    '-1',
    '1e999',
    'NaN',
    '9'.repeat(400),
  ),
  fc.constantFrom(
    'https://[::1',
    'http://',
    '//evil.example',
    'https://a@b:c@d/',
    'urn:x:<hostile>',
    'a'.repeat(3_000),
  ),
  fc.constantFrom(
    'openid',
    'code',
    'none',
    'login consent',
    'S256',
    'query',
    'authorization_code',
    'refresh_token',
  ),
  fc.constantFrom(
    'eyJhbGciOiJub25lIn0.e30.',
    'a.b.c',
    'e30.e30.e30',
    '%',
    '%00',
    '%ff',
    '\ud800',
    '\u{1f600}',
  ),
)

/** Written as it stands in a query: mostly encoded, at times not as it should be. */
const written = fc.oneof(
  { weight: 9, arbitrary: hostile.map(value => encodeURIComponent(value.toWellFormed())) },
  { weight: 1, arbitrary: hostile.map(value => value.replace(/[^!-~]|[#&]/g, '%zz')) },
)

const pair = fc.tuple(fc.oneof(fc.constantFrom(...names), written), written)

const header = fc.oneof(
  fc.constantFrom(
    ...[
      'Basic',
      'Basic ',
      'Basic Og==',
      'Basic JTAwOiUwMA==',
      'Basic //8=',
      'Bearer',
      'Bearer <hostile>',
      'Bearer a b',
    ],
    ...[
      'DPoP x',
      'Digest x',
      `Bearer svco_${'x'.repeat(49)}`,
      'Bearer eyJhbGciOiJub25lIn0.e30.',
      'Basic <hostile>',
    ],
  ),
  fc.string({ maxLength: 30 }).map(text => text.replace(/[^ -~]/g, '')),
)

interface Answer {
  readonly status: number
  readonly text: string
  readonly type: string
}

interface Attempt {
  readonly pairs: readonly (readonly [name: string, value: string])[]
  readonly authorization: string | null
  readonly type: string
  readonly origin: string | null
}

const agent = new Agent({ keepAlive: true })
/** Sends what `fetch` would mend. */
function ask(
  issuer: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | null,
) {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(new URL(issuer), { method, path, headers, agent }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', piece => {
        text += piece
      })
      response.on('end', () =>
        resolve({ status: response.statusCode!, text, type: response.headers['content-type'] ?? '' }),
      )
    })
    sent.on('error', reject).end(body ?? undefined)
  })
}

const endpoints = [
  ['GET', '/oauth2/auth'],
  ['POST', '/oauth2/auth'],
  ['POST', '/oauth2/token'],
  ['POST', '/oauth2/revoke'],
  ['POST', '/oauth2/introspect'],
  ['GET', '/oauth2/userinfo'],
  ['POST', '/oauth2/userinfo'],
  ['GET', '/oauth2/logout'],
  ['POST', '/oauth2/logout'],
  ['GET', '/.well-known/openid-configuration'],
  ['GET', '/.well-known/jwks.json'],
] as const

for (const [method, path] of endpoints)
  test(`${method} ${path} bears ${requests * parameters} hostile parameters`, async t => {
    const site = await startSite(t)
    const { app, browser } = await visit(site)
    const { access_token, refresh_token, id_token } = await tokensOf(site, browser, app)
    const basic = `Basic ${Buffer.from(`${app.client.id}:${app.secret}`).toString('base64')}`
    const isOfBrowser = ['/oauth2/auth', '/oauth2/logout'].includes(path)
    const good = new URLSearchParams({
      client_id: app.client.id,
      ...(path === '/oauth2/auth' && { response_type: 'code', redirect_uri: callback, scope: 'openid' }),
      ...(path === '/oauth2/token' && { grant_type: 'refresh_token', refresh_token }),
      ...(!isOfBrowser && { token: refresh_token }),
      ...(path === '/oauth2/logout' && { id_token_hint: id_token }),
    })
    const crowd = fc.record({
      pairs: fc.array(pair, { minLength: parameters, maxLength: parameters }),
      authorization: fc.option(fc.oneof(header, fc.constantFrom(basic, `Bearer ${access_token}`))),
      type: fc.constantFrom(
        'application/x-www-form-urlencoded',
        'application/json',
        'text/html; charset=x',
        '',
      ),
      origin: fc.option(written),
    })
    const few = fc.record({
      pairs: fc.uniqueArray(pair, { minLength: 1, maxLength: 3, selector: ([name]) => name }),
      authorization: fc.constant(
        path === '/oauth2/userinfo' ? `Bearer ${access_token}` : isOfBrowser ? null : basic,
      ),
      type: fc.constant('application/x-www-form-urlencoded'),
      origin: fc.constant(null),
    })
    const bears = async ({ pairs, authorization, type, origin }: Attempt, base: URLSearchParams | null) => {
      const own = [...(base ?? [])].filter(([name]) => !pairs.some(([other]) => name === other))
      const form = [new URLSearchParams(own), ...pairs.map(([name, value]) => `${name}=${value}`)].join('&')
      const headers: Record<string, string> = { cookie: browser.cookie, accept: 'text/html' }
      if (authorization !== null) headers.authorization = authorization
      if (origin !== null) headers.origin = origin
      const isForm = method === 'POST'
      if (isForm) headers['content-type'] = type
      const target = isForm ? path : `${path}?${form.slice(0, 6_000)}`
      const {
        status,
        text,
        type: kind,
      } = await ask(site.issuer, method, target, headers, isForm ? form : null)
      assert.ok(status < 500, `${status} ${text}`)
      if (!kind.startsWith('application/json')) assert.doesNotMatch(text, /<hostile/)
      statuses.add(status)
    }
    const statuses = new Set<number>()
    await fc.assert(
      fc.asyncProperty(crowd, attempt => bears(attempt, null)),
      { numRuns: requests },
    )
    await fc.assert(
      fc.asyncProperty(few, attempt => bears(attempt, good)),
      { numRuns: requests },
    )
    // Some get as far as those that are good.
    assert.ok(
      [200, 303].some(status => statuses.has(status)),
      [...statuses].join(),
    )
    assert.deepEqual(site.bugs, [])
    assert.equal(site.lines.join('').includes('internal error'), false, site.lines.join(''))
  })

test('a client that leaves before it has its response is no bug', async t => {
  const { issuer, lines } = await startSite(t)
  const { hostname, port } = new URL(issuer)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const responses: ServerResponse[] = []
  const { end } = ServerResponse.prototype
  // The process hears of it only when it writes.
  const ended = t.mock.method(ServerResponse.prototype, 'end', function (this: ServerResponse, body: string) {
    responses.push(this)
    reset(socket)
    return end.call(this, body, 'utf8')
  })
  socket.write(`GET /oauth2/auth HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
  await until(() => responses[0]?.closed === true)
  ended.mock.restore()
  assert.deepEqual(
    lines.filter(line => line.includes('internal error')),
    [],
  )
})
