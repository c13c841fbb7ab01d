import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  isOfDevice,
  originFault,
  pageUriFault,
  redirectUriFault,
} from '../../../src/oauth/clients/uri-rules.ts'
import { anyCharacter, anyUrl } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'

const asSecret = (uri: string) => redirectUriFault(uri, 'client_secret_basic')
const asNone = (uri: string) => redirectUriFault(uri, 'none')

/** A URI of so many bytes. */
const long = (bytes: number) => 'https://app.example/'.padEnd(bytes, 'a')

describe('a redirect URI of any client', () => {
  for (const uri of [
    'https://app.example/cb',
    'https://app.example',
    'https://app.example/',
    'https://app.example:8443/cb?tenant=1&lang=de',
    'https://app.example/@user/~;v=1',
    'https://app.example/%2Fa%2fb/%2541/%E2%82%AC?next=%2Fhome',
    `https://${'a'.repeat(63)}.example/`,
    `https://${'a.'.repeat(123)}example/`,
    'https://_a.b-.example/cb',
    'https://xn--bcher-kva.example/cb',
    'https://192.0.2.1/cb',
    'https://[2001:db8::1]/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:49152/cb',
    'http://[::1]:8080/cb',
    'http://localhost/cb',
    'http://localhost:3000',
    long(512),
  ]) {
    test(`may be ${uri.slice(0, 60)}`, () => {
      for (const method of ['client_secret_basic', 'client_secret_post', 'none'] as const)
        assert.equal(redirectUriFault(uri, method), null)
    })
  }

  for (const [uri, rule] of [
    ['', /printable ASCII/],
    ['/cb', /an absolute URI/],
    ['app.example/cb', /an absolute URI/],
    ['//app.example/cb', /an absolute URI/],
    ['https://', /an absolute URI/],
    ['https://app.example:99999/', /an absolute URI/],
    [long(513), /at most 512 bytes/],
    ['https://bücher.example/cb', /printable ASCII/],
    ['https://app.example/ü', /printable ASCII/],
    [' https://app.example/cb', /printable ASCII/],
    ['https://app.example/cb\n', /printable ASCII/],
    ['https://app.example/c\tb', /printable ASCII/],
    ['java\nscript:alert(1)', /printable ASCII/],
    ['https://app.example/cb#', /fragment/],
    ['https://app.example/cb#top', /fragment/],
    ['https://*.app.example/cb', /wildcard/],
    ['https://app.example/*', /wildcard/],
    ['https://%2A.app.example/cb', /letters, digits/],
    ['https://a\\@evil.example', /backslash/],
    ['https:\\\\app.example/cb', /backslash/],
    ['https://user@app.example/cb', /user name/],
    ['https://user:secret@app.example/cb', /user name/],
    ['https://:secret@app.example/cb', /user name/],
    ['https://a"b.example/cb', /letters, digits/],
    ['https://a;script-src.example/cb', /letters, digits/],
    ['https://a,b.example/cb', /letters, digits/],
    ['http://app.example/cb', /begin with https/],
    ['http://127.0.0.2/cb', /begin with https/],
    ['http://0.0.0.0/cb', /begin with https/],
    ['http://[::]/cb', /begin with https/],
    ['http://localhost.example/cb', /begin with https/],
    ['http://app.localhost/cb', /begin with https/],
    ['http://localhost./cb', /begin with https/],
    ['http://127.0.0.1@evil.example/', /begin with https/],
    ['javascript:alert(1)', /not use the scheme javascript:/],
    ['JavaScript:alert(1)', /not use the scheme javascript:/],
    ['data:text/html,hello', /not use the scheme/],
    ['file:///etc/passwd', /not use the scheme/],
    ['vbscript:x', /not use the scheme/],
    ['blob:https://app.example/1', /not use the scheme/],
    ['about:blank', /not use the scheme/],
    ['ftp://app.example/', /not use the scheme/],
    ['mailto:a@app.example', /not use the scheme/],
    ['tel:1', /not use the scheme/],
    ['sms:1', /not use the scheme/],
    ['wss://app.example/', /not use the scheme/],
    ['https://app..example/cb', /with a dot or contain two in a row/],
    ['https://.app.example/cb', /begin or end with a dot/],
    ['https://app.example./cb', /begin or end with a dot/],
    ['https://./cb', /begin or end with a dot/],
    [`https://${'a'.repeat(64)}.example/`, /63 between dots/],
    [`https://${'a.'.repeat(123)}examples/`, /at most 253 characters/],
    [`https://${'a.'.repeat(124)}example/`, /at most 253 characters/],
    ['https://app.example/%', /two hexadecimal digits/],
    ['https://app.example/100%/', /two hexadecimal digits/],
    ['https://app.example/%4', /two hexadecimal digits/],
    ['https://app.example/%g1', /two hexadecimal digits/],
    ['https://app.example/?a=%u0041', /two hexadecimal digits/],
    ['https://app.example/%00', /escaped control/],
    ['https://app.example/?a=%0a', /escaped control/],
    ['https://app.example/a%0D%0ASet-Cookie:b', /escaped control/],
    ['https://app.example/%09', /escaped control/],
    ['https://app.example/%7f', /escaped control/],
    ['https://app.example/cb?code=1', /not have code in its query/],
    ['https://app.example/cb?a=1&state', /not have state in its query/],
    ['https://app.example/cb?%69ss=', /not have iss in its query/],
    ['https://app.example/cb?error=a&a=1', /not have error in its query/],
  ] as const) {
    test(`must not be ${JSON.stringify(uri.slice(0, 60))}`, () => {
      for (const method of ['client_secret_basic', 'client_secret_post', 'none'] as const)
        assert.match(redirectUriFault(uri, method) ?? 'it may', rule)
    })
  }

  for (const [uri, spelling] of [
    ['HTTPS://App.Example/cb', 'https://app.example/cb'],
    ['https:app.example/cb', 'https://app.example/cb'],
    ['https:///app.example/cb', 'https://app.example/cb'],
    ['https://app.example:443/cb', 'https://app.example/cb'],
    ['http://localhost:80/cb', 'http://localhost/cb'],
    ['https://app.example/a/../cb', 'https://app.example/cb'],
    ['https://app.example/a/%2e%2E/cb', 'https://app.example/cb'],
    ['https://app.example/./cb', 'https://app.example/cb'],
    ['https://app.example?a=1', 'https://app.example/?a=1'],
    ['https://@app.example/cb', 'https://app.example/cb'],
    ['https://app.example:/cb', 'https://app.example/cb'],
    ['https://app.ex%61mple/cb', 'https://app.example/cb'],
    ['https://app.example/%41', 'https://app.example/A'],
    ['https://app.example/%7Euser/%2Da%5f', 'https://app.example/~user/-a_'],
    ['https://app.example/a%2eb?a%62=%63%2F', 'https://app.example/a.b?ab=c%2F'],
    ['https://app.example/"cb"', 'https://app.example/%22cb%22'],
    ['http://127.1/cb', 'http://127.0.0.1/cb'],
    ['http://2130706433/cb', 'http://127.0.0.1/cb'],
    ['http://0x7f.0.0.1:8080/cb', 'http://127.0.0.1:8080/cb'],
    ['http://[0:0:0:0:0:0:0:1]/cb', 'http://[::1]/cb'],
  ] as const) {
    test(`must be written as ${spelling} in place of ${uri}`, () => {
      assert.equal(asSecret(uri), `must be written as ${spelling}`)
      assert.equal(asSecret(spelling), null)
    })
  }

  test('is not suggested a spelling that would be too long', () => {
    assert.equal(asSecret(`https://app.example/${'"'.repeat(400)}`), 'must have at most 512 bytes')
  })
})

describe('a redirect URI with a scheme of an app', () => {
  for (const uri of [
    'com.example.app:/callback',
    'com.example.app://callback',
    'com.example.app:/callback?a=1',
    'com.example.app:callback',
    'com.example.my-app2:/callback',
  ]) {
    test(`may be ${uri}, for none only`, () => {
      assert.equal(asNone(uri), null)
      assert.match(redirectUriFault(uri, 'client_secret_basic') ?? '', /token_endpoint_auth_method is none/)
      assert.match(redirectUriFault(uri, 'client_secret_post') ?? '', /token_endpoint_auth_method is none/)
    })
  }

  for (const [uri, rule] of [
    ['myapp:/callback', /scheme with a dot/],
    ['myapp://callback.example/', /scheme with a dot/],
    ['com.example.app.:/callback', /a scheme that does not begin or end with a dot/],
    ['com..example:/callback', /a scheme that does not begin or end with a dot or contain two/],
    [`com.${'a'.repeat(64)}:/callback`, /a scheme of at most 253 characters, with at most 63/],
    ['com.example.app://a..b/callback', /a host that does not begin or end with a dot or contain two/],
    ['com.example.app://callback./', /a host that does not begin or end with a dot/],
    [`com.example.app://${'a'.repeat(64)}/`, /a host of at most 253 characters, with at most 63/],
    ['com.example.app:/callback#', /fragment/],
    ['com.example.app:/*', /wildcard/],
    ['com.example.app:/a?state=1', /not have state/],
    ['com.example.app:?code=1', /not have code/],
    ['com.example.app://user@callback/', /user name/],
    ['com.example.app:/%63allback', /written as com\.example\.app:\/callback$/],
    ['com.example.app:%2e%2e', /written as com\.example\.app:\.\.$/],
    ['com.example.app:/%00', /escaped control/],
    ['com.example.app:/%', /two hexadecimal digits/],
    ['Com.Example.App:/callback', /written as com\.example\.app:\/callback$/],
    ['com.example.app:/a/../callback', /written as com\.example\.app:\/callback$/],
  ] as const) {
    test(`must not be ${uri}`, () => assert.match(asNone(uri) ?? 'it may', rule))
  }
})

describe('an origin', () => {
  for (const origin of [
    'https://app.example',
    'https://app.example:8443',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]',
  ]) {
    test(`may be ${origin}`, () => assert.equal(originFault(origin), null))
  }

  for (const [origin, rule] of [
    ['https://app.example/', /written as https:\/\/app\.example$/],
    ['https://app.example/path', /written as https:\/\/app\.example$/],
    ['https://app.example?', /written as https:\/\/app\.example$/],
    ['https://App.example:443', /written as https:\/\/app\.example$/],
    ['https://app.example#', /fragment/],
    ['https://app..example', /begin or end with a dot/],
    ['https://app.example.', /begin or end with a dot/],
    [`https://${'a'.repeat(64)}.example`, /63 between dots/],
    ['https://*.app.example', /wildcard/],
    ['https://user@app.example', /user name/],
    ['http://app.example', /begin with https/],
    ['ftp://localhost', /begin with https/],
    ['ws://127.0.0.1:3000', /begin with https/],
    ['com.example.app://callback', /begin with https/],
    ['blob:https://app.example/1', /begin with https/],
    ['null', /an absolute URI/],
    ['*', /wildcard/],
    ['app.example', /an absolute URI/],
    ['https://a;b.example', /letters, digits/],
    [`https://${'a.'.repeat(260)}example`, /512 bytes/],
  ] as const) {
    test(`must not be ${origin.slice(0, 60)}`, () => assert.match(originFault(origin) ?? 'it may', rule))
  }
})

describe('the URI of a page', () => {
  for (const uri of [
    'https://app.example',
    'https://app.example/logo.svg?v=2',
    'https://app.example/tos?state=ny',
    long(2048),
  ]) {
    test(`may be ${uri.slice(0, 60)}`, () => assert.equal(pageUriFault(uri), null))
  }

  for (const [uri, rule] of [
    ['http://app.example/', /begin with https/],
    ['http://localhost/', /begin with https/],
    ['com.example.app:/logo', /begin with https/],
    ['data:image/svg+xml,x', /begin with https/],
    ['javascript:alert(1)', /begin with https/],
    ['https://app.example/tos#top', /fragment/],
    ['https://user@app.example/', /user name/],
    ['HTTPS://app.example/', /written as https:\/\/app\.example\/$/],
    ['https://a,b.example/', /letters, digits/],
    [long(2049), /at most 2048 bytes/],
  ] as const) {
    test(`must not be ${uri.slice(0, 60)}`, () => assert.match(pageUriFault(uri) ?? 'it may', rule))
  }
})

describe('whatever the text', () => {
  const pieces = [
    ...[
      'https://',
      'http://',
      'https:',
      'com.example.app:',
      'javascript:',
      'app.example',
      'localhost',
      '127.0.0.1',
    ],
    ...[
      '[::1]',
      '127.1',
      ':443',
      ':8080',
      ':',
      '@',
      'user',
      '/',
      '//',
      '\\',
      '..',
      '.',
      '%2e',
      '%2A',
      '%41',
      '%',
      '%0a',
      '%2541',
      'a'.repeat(64),
      '*',
      '#',
      '?',
    ],
    ...[
      '&',
      '=',
      'code',
      'state',
      'iss',
      'error',
      'cb',
      ' ',
      '\t',
      '\n',
      'ü',
      '\u0000',
      '"',
      ';',
      ',',
      'A',
      'xn--',
    ],
  ]
  const text = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map(some => some.join('')),
    fc
      .tuple(
        fc.constantFrom('https://app.example', 'http://localhost:1', 'com.a.b:/'),
        fc.string(),
        fc.string(),
      )
      .map(([start, path, query]) => `${start}/${path}?${query}`),
    anyUrl,
    fc.webAuthority({ withPort: true }).map(authority => `https://${authority}`),
    fc.string({ unit: anyCharacter }),
  )
  const method = fc.constantFrom('client_secret_basic', 'client_secret_post', 'none')
  const many = { numRuns: thorough(3000, 500) }

  test('a fault is words that follow a name, and what has none keeps the rules of redirect URIs', () => {
    fc.assert(
      fc.property(text, method, (uri, method) => {
        const fault = redirectUriFault(uri, method)
        if (isWords(fault)) return
        assertPlain(uri, 512)
        const url = new URL(uri)
        assert.ok(url.href === uri || (url.href === `${uri}/` && url.pathname === '/'))
        const scheme = uri.slice(0, uri.indexOf(':'))
        if (scheme === 'http') assert.match(uri, /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?([/?]|$)/)
        else if (scheme !== 'https') assert.ok(method === 'none' && scheme.includes('.'))
        const query = uri.split('?').slice(1).join('?')
        for (const pair of query.split('&'))
          assert.doesNotMatch(decoded(pair.split('=')[0]!), /^(code|state|iss|error)$/)
      }),
      many,
    )
  })

  test('what has no fault as an origin is one', () => {
    fc.assert(
      fc.property(text, origin => {
        if (isWords(originFault(origin))) return
        assertPlain(origin, 512)
        assert.equal(new URL(origin).origin, origin)
        assert.match(origin, /^(https:\/\/[^/?]+|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?)$/)
      }),
      many,
    )
  })

  test('what has no fault as a page is one of the web', () => {
    fc.assert(
      fc.property(text, uri => {
        if (isWords(pageUriFault(uri))) return
        assertPlain(uri, 2048)
        assert.match(uri, /^https:\/\/[a-z0-9._[\]:-]+([/?]|$)/)
        assert.equal(new URL(uri).href.replace(/\/$/, ''), uri.replace(/\/$/, ''))
      }),
      many,
    )
  })

  test('no spelling is suggested that breaks another rule', () => {
    const uri = 'com.example.app://%2e'
    assert.match(
      redirectUriFault(uri, 'none') ?? '',
      /^must have a host that does not begin or end with a dot/,
    )
  })

  test('a suggested spelling is valid', () => {
    fc.assert(
      fc.property(text, method, (uri, method) => {
        for (const rule of [(uri: string) => redirectUriFault(uri, method), originFault, pageUriFault]) {
          const [, spelling] = /^must be written as (.*)$/.exec(rule(uri) ?? '') ?? []
          if (spelling !== undefined) assert.equal(rule(spelling), null)
        }
      }),
      many,
    )
  })
})

function isWords(fault: string | null): boolean {
  if (fault !== null) assert.match(fault, /^must (not )?(be|begin|contain|have|use) [ -~]+$/)
  return fault !== null
}

function assertPlain(uri: string, longest: number): void {
  assert.ok(Buffer.byteLength(uri) <= longest)
  assert.match(uri, /^[!-~]+$/)
  assert.doesNotMatch(uri, /[#*\\]/)
  for (const [, digits] of uri.matchAll(/%(.{0,2})/g)) {
    assert.match(digits!, /^[\da-f]{2}$/i)
    assert.match(String.fromCharCode(Number.parseInt(digits!, 16)), /[^\0-\x1f\x7f\w.~-]/)
  }
  const { protocol, hostname } = new URL(uri)
  if (/^https?:$/.test(protocol) && !hostname.startsWith('['))
    for (const label of hostname.split('.')) assert.match(label, /^.{1,63}$/)
  assert.doesNotMatch(uri, /^[^:]*:\/\/[^/?]*@/)
}

function decoded(text: string): string {
  return new URLSearchParams(`${text}=`).keys().next().value ?? ''
}

describe("a host of the user's own device", () => {
  const hostOf = (host: string) => new URL(`https://${host}/`).hostname
  for (const host of [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'app.localhost',
    'a.b.localhost.',
    'localhost.localdomain',
    'localhost6.localdomain6',
    'ip6-loopback',
    '127.0.0.1',
    '127.255.255.254',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '0.0.0.0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
  ])
    test(host, () => assert.equal(isOfDevice(hostOf(host)), true))
  for (const host of [
    'app.example',
    'localhost.example',
    'notlocalhost',
    'localhosts',
    '127.0.0.1.example',
    '128.0.0.1',
    '10.0.0.1',
    '[::2]',
    '[::1:1]',
    '[::ffff:10.0.0.1]',
  ])
    test(`not ${host}`, () => assert.equal(isOfDevice(hostOf(host)), false))
  test('127.0.0.0/8 whatever the address', () => {
    const byte = fc.integer({ min: 0, max: 255 })
    fc.assert(fc.property(byte, byte, byte, (a, b, c) => isOfDevice(hostOf(`127.${a}.${b}.${c}`))))
  })
})
