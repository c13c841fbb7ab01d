import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { clientNameFault } from '../../../src/oauth/clients/client-name.ts'
import { redirectUriFault } from '../../../src/oauth/clients/uri-rules.ts'
import { readDocument, readKeys } from '../../../src/oauth/documents/read-document.ts'

const url = 'https://app.example/oauth/client.json'
const whole = { client_id: url, redirect_uris: ['https://app.example/callback'] }
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const keyed = { ...whole, token_endpoint_auth_method: 'private_key_jwt' }

const read = (document: unknown) => readDocument(url, Buffer.from(JSON.stringify(document)))

test('a document needs little, and has no secret', () => {
  const document = read(whole)
  assert.ok(typeof document !== 'string')
  const { settings, scopes, keys } = document
  assert.equal(settings.name, 'app.example')
  assert.equal(settings.tokenEndpointAuthMethod, 'none')
  assert.deepEqual(settings.grantTypes, ['authorization_code'])
  assert.deepEqual(settings.allowedCorsOrigins, ['https://app.example'])
  assert.deepEqual([scopes, keys, settings.logoUri], [null, null, null])
})

test('what is not for this server is ignored, and a picture is not shown', () => {
  const document = read({
    ...whole,
    client_name: 'Editor',
    logo_uri: 'https://app.example/logo.png',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code', 'token'],
    scope: 'openid mcp.tools openid',
    unknown: { of: 'any kind' },
  })
  assert.ok(typeof document !== 'string')
  assert.deepEqual(document.settings.grantTypes, ['authorization_code', 'refresh_token'])
  assert.deepEqual(document.scopes, ['openid', 'mcp.tools'])
  assert.equal(document.settings.logoUri, null)
})

test('the rule that a document breaks is named', () => {
  const faulty: readonly (readonly [unknown, RegExp])[] = [
    [[], /must be a JSON object/],
    [null, /must be a JSON object/],
    [
      { ...whole, client_id: `${url}/` },
      /^client_id of the document must be the URL of the document, letter for letter/,
    ],
    [{ ...whole, client_id: url.toUpperCase() }, /^client_id/],
    [{ ...whole, client_secret: 'x' }, /^client_secret of the document must be left out/],
    [{ ...whole, client_secret_expires_at: 0 }, /^client_secret_expires_at/],
    [{ ...whole, token_endpoint_auth_method: 'client_secret_basic' }, /must be none or private_key_jwt/],
    [{ ...whole, token_endpoint_auth_method: 'client_secret_jwt' }, /must be none or private_key_jwt/],
    [{ ...whole, redirect_uris: [] }, /^redirect_uris of the document must have 1 to 20 items/],
    [{ ...whole, redirect_uris: 'https://app.example/' }, /must be a list of strings/],
    [{ ...whole, redirect_uris: ['javascript:alert(1)'] }, /^redirect_uris\[0\]/],
    [
      { ...whole, redirect_uris: ['http://app.example/callback'] },
      /^redirect_uris\[0\] of the document must begin with https/,
    ],
    [
      { ...whole, client_name: 'Ada \u202eevil' },
      /^client_name of the document must not contain characters that change text direction/,
    ],
    [{ ...whole, client_name: 'a'.repeat(101) }, /^client_name of the document must have 1 to 100/],
    [{ ...whole, tos_uri: 'http://app.example/' }, /^tos_uri/],
    [
      { ...whole, grant_types: ['client_credentials'] },
      /^grant_types of the document must include authorization_code/,
    ],
    [{ ...whole, response_types: ['token'] }, /^response_types of the document must include code/],
    [keyed, /private_key_jwt needs either jwks or jwks_uri/],
    [{ ...keyed, jwks: { keys: [key] }, jwks_uri: 'https://app.example/keys' }, /either jwks or jwks_uri/],
    [
      { ...keyed, redirect_uris: ['com.example.app:/callback'], jwks: { keys: [key] } },
      /^redirect_uris\[0\]/,
    ],
  ]
  for (const [document, rule] of faulty) {
    const fault = read(document)
    assert.ok(typeof fault === 'string', JSON.stringify(document))
    assert.match(fault, rule)
  }
  for (const body of ['', '{', '\ufeff{}', '{"a":"\xff"}'])
    assert.match(
      String(readDocument(url, Buffer.from(body, 'latin1'))),
      /must be JSON in UTF-8|must be a JSON object/,
    )
})

test('only public keys for ES256 are taken from a key set, and of them only what verifies', () => {
  const other = { kty: 'RSA', n: 'AQAB', e: 'AQAB' }
  const named = { ...key, kid: 'a', x5c: ['x'] }
  assert.deepEqual(readKeys({ keys: [other, named] }), [
    { kty: 'EC', crv: 'P-256', x: key.x, y: key.y, kid: 'a' },
  ])
  assert.match(String(readKeys({ keys: [other] })), /must have an EC key on P-256/)
  assert.match(String(readKeys({ keys: [{ ...key, use: 'enc' }] })), /must have an EC key/)
  assert.match(String(readKeys({ keys: [{ ...key, alg: 'ES384' }] })), /must have an EC key/)
  assert.match(String(readKeys({ keys: [key, { ...key, d: 'x' }] })), /private or symmetric/)
  assert.match(String(readKeys({ keys: [{ kty: 'oct', k: 'x' }] })), /private or symmetric/)
  assert.match(String(readKeys({ keys: Array(11).fill(key) })), /at most 10 keys/)
  for (const set of [undefined, null, [], { keys: {} }, { keys: [null] }])
    assert.match(String(readKeys(set)), /`keys`/)
})

test('whatever a document has, what is read of it keeps the rules', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(url, 'none', 'private_key_jwt'),
  )
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }))
  const uris = fc.array(
    fc.oneof(fc.constantFrom('https://a.example/cb', 'http://127.0.0.1/cb', 'com.example:/x'), text),
  )
  const documents = fc.record(
    {
      client_id: fc.oneof({ weight: 9, arbitrary: fc.constant(url) }, { weight: 1, arbitrary: value }),
      redirect_uris: fc.oneof({ weight: 5, arbitrary: uris }, { weight: 1, arbitrary: value }),
      ...{
        client_name: value,
        scope: value,
        grant_types: value,
        response_types: value,
        jwks: value,
        jwks_uri: value,
      },
      ...{ token_endpoint_auth_method: value, client_uri: value, policy_uri: value, tos_uri: value },
    },
    { requiredKeys: ['client_id', 'redirect_uris'] },
  )
  fc.assert(
    fc.property(documents, document => {
      const result = read(document)
      if (typeof result === 'string') return
      const { name, redirectUris, tokenEndpointAuthMethod } = result.settings
      assert.equal(document.client_id, url)
      assert.equal(clientNameFault(name), null)
      assert.ok(redirectUris.length > 0)
      for (const uri of redirectUris) assert.equal(redirectUriFault(uri, tokenEndpointAuthMethod), null)
      assert.equal(result.keys === null, tokenEndpointAuthMethod === 'none')
    }),
    { numRuns: 300 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), bytes => void readDocument(url, Buffer.from(bytes))),
    { numRuns: 100 },
  )
})

test('there are bounds to what a document has, and what is just within them is read', () => {
  const uris = (count: number) => Array.from({ length: count }, (_, i) => `https://app.example/${i}`)
  const scope = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`).join(' ')
  for (const [name, good, bad, rule] of [
    ['redirect_uris', uris(20), uris(21), /^redirect_uris of the document must have 1 to 20 items$/],
    ['scope', scope(100), scope(101), /^scope of the document must name at most 100 scopes$/],
    ['redirect_uris', uris(1), undefined, /^redirect_uris of the document must have 1 to 20 items$/],
    ['redirect_uris', uris(1), ['https://app.example/', 1], /^redirect_uris .* must be a list of strings$/],
  ] as const) {
    const document = read({ ...whole, [name]: good })
    assert.ok(typeof document !== 'string', String(document))
    assert.deepEqual(document.settings.responseTypes, ['code'])
    const fault = read({ ...whole, [name]: bad })
    assert.ok(typeof fault === 'string')
    assert.match(fault, rule)
  }
  const text = JSON.stringify(whole)
  for (const body of ['', `\ufeff${text}`, text.slice(1)])
    assert.equal(readDocument(url, Buffer.from(body)), 'the document must be JSON in UTF-8')
  assert.equal(readDocument(url, Buffer.from('ff', 'hex')), 'the document must be JSON in UTF-8')
  assert.match(String(read({ ...keyed, jwks: { keys: [] } })), /^jwks of the document must have an EC key/)
})

test('a key is for signatures by ES256 on P-256, with a whole point; others beside it are left out', () => {
  const keysOf = (...keys: readonly unknown[]) => readKeys({ keys })
  const { kty, crv, x, y } = key
  const plain = { kty, crv, x, y }
  for (const more of [{}, { alg: 'ES256' }, { use: 'sig' }, { alg: 'ES256', use: 'sig' }, { kid: 1 }])
    assert.deepEqual(keysOf({ ...plain, ...more }), [plain], JSON.stringify(more))
  assert.deepEqual(keysOf({ ...plain, kid: 'a' }), [{ ...plain, kid: 'a' }])
  for (const more of [
    ...[{ kty: 'OKP' }, { crv: 'P-384' }, { alg: 'ES384' }, { use: 'enc' }, { alg: 'RS256', use: 'sig' }],
    ...[{ x: undefined }, { y: undefined }, { x: 1 }, { y: [y] }, { x: x!.slice(1) }, { y: `${y}A` }],
  ]) {
    assert.match(String(keysOf({ ...plain, ...more })), /EC key on P-256/, JSON.stringify(more))
    assert.deepEqual(keysOf({ ...plain, ...more }, plain), [plain])
  }
  assert.match(String(keysOf(plain, 'x')), /must be an object with the list/)
  assert.equal(keysOf(...Array(10).fill(plain)).length, 10)
  assert.match(String(keysOf(...Array(11).fill(plain))), /must have at most 10 keys/)
})
