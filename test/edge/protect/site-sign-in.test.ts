import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNavigation, leadToSignIn, siteCookieOf } from '../../../src/edge/protect/site-sign-in.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

test('the session of a site is read over https, or at loopback, and by its own name', t => {
  const steps = stepsOver(t, [])
  const [secure, plain] = ['__Host-gatehouse-site=s', 'gatehouse-site=p']
  for (const [scheme, host, cookies, value] of [
    ['https', 'site.test', [secure, plain], 's'],
    ['https', 'site.test', [plain], null],
    ['https', 'localhost', [secure, plain], 's'],
    ['http', 'site.test', [secure, plain], null],
    ['http', 'localhost', [secure, plain], 'p'],
    ['http', '127.0.0.1', [plain], 'p'],
    ['https', 'site.test', ['a=b', secure], 's'],
    ['https', 'site.test', [secure, secure], null],
    ['https', 'site.test', [], null],
  ] as const) {
    const { head } = steps.exchange(request('GET /', ...cookies.map(cookie => `Cookie: ${cookie}`)))
    assert.equal(siteCookieOf({ head, scheme, host } as Exchange), value, `${scheme} ${host} ${cookies}`)
  }
})

test('a navigation gets a page that a person sees, and sends nothing', t => {
  const steps = stepsOver(t, [])
  const html = 'Accept: text/html,*/*'
  for (const [line, fields, expected] of [
    ['GET /', [html], true],
    ['HEAD /', [html], true],
    ['POST /', [html], false],
    ['GET /', ['Accept: Text/HTML;q=0.5'], true],
    ['GET /', ['Accept: */*'], false],
    ['GET /', ['Accept: text/htmlx'], false],
    ['GET /', [], false],
    ['GET /', [html, 'Sec-Fetch-Mode: navigate'], true],
    ['GET /', [html, 'sec-fetch-mode: cors'], false],
    ['GET /', [html, 'Connection: Upgrade', 'Upgrade: websocket'], false],
  ] as const)
    assert.equal(isNavigation(steps.exchange(request(line, ...fields))), expected, `${line} ${fields}`)
})

test('a browser is led to sign in and back, or to the root of a long address', t => {
  const steps = stepsOver(t, [])
  const longest = `/${'a'.repeat(1_999)}`
  for (const [target, to] of [
    ['/a?b=c&d', '%2Fa%3Fb%3Dc%26d'],
    [longest, encodeURIComponent(longest)],
    [`${longest}a`, '%2F'],
  ] as const) {
    const x = steps.exchange(request(`GET ${target}`))
    x.addedLines = 'WWW-Authenticate: Bearer\r\n'
    assert.equal(leadToSignIn(x), 'responded')
    assert.equal(x.status, 303)
    const { written } = x.seen
    for (const line of [
      `Location: /cdn-cgi/sign-in?to=${to}`,
      'Cache-Control: no-store',
      'WWW-Authenticate: Bearer',
      `svc-ray: ${x.ray}`,
    ])
      assert.ok(written.includes(`\r\n${line}\r\n`), `${line} in ${written}`)
    assert.match(written, /^HTTP\/1\.1 303 See Other\r\n/)
  }
})
