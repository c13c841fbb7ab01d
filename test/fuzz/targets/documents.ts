// JSON documents of others: metadata of OAuth clients and their keys, lists of models, passkeys, and verdicts of webhooks.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { readModels } from '../../../src/ai/providers/listed-models.ts'
import { isObject } from '../../../src/base/text/json.ts'
import { replaceTexts, structural, textsOf } from '../../../src/guard/webhook/json-texts.ts'
import { readVerdict } from '../../../src/guard/webhook/verdict.ts'
import { documentUrlFault, isOnHosts } from '../../../src/oauth/clients/document-url.ts'
import { isShared, redirectHostOf, redirectMatches } from '../../../src/oauth/clients/redirect-uri.ts'
import { originFault, redirectUriFault } from '../../../src/oauth/clients/uri-rules.ts'
import { readDocument, readKeys } from '../../../src/oauth/documents/read-document.ts'
import { readAssertion, readAttestation } from '../../../src/people/passkeys/ceremony-response.ts'
import { fieldValueOf, scopesIn } from '../../../src/protect/claims.ts'
import { mutateJson } from '../engine/mutate-json.ts'
import type { Target } from '../target.ts'

const texts = ['hello', 'world']
const base64url = /^[\w-]+$/

function attempt(input: Buffer): void {
  const text = input.toString()
  assertClient(input)
  assertModels(input)
  assertVerdict(text)
  for (const response of [readAttestation(text), readAssertion(text)])
    if (response !== null)
      for (const value of [response.id, response.clientData, response.challenge])
        assert.match(value, base64url)
  const value = parse(text)
  if (value === undefined) return
  if (isUtf8(input)) assertTexts(text, value)
  const keys = readKeys(value)
  if (typeof keys !== 'string') assert.ok(keys.length > 0 && keys.length <= 10)
  if (isObject(value)) assertClaims(value)
}

function assertClient(body: Buffer): void {
  const { client_id: url = '' } = valueIn(body)
  if (typeof url !== 'string' || documentUrlFault(url) !== null) return
  isOnHosts(url, ['*', '*.example', 'app.example:444'])
  const read = readDocument(url, body)
  if (typeof read === 'string') return void assert.notEqual(read, '')
  const { redirectUris, allowedCorsOrigins, tokenEndpointAuthMethod } = read.settings
  assert.ok(redirectUris.length > 0)
  for (const uri of redirectUris) {
    assert.equal(redirectUriFault(uri, tokenEndpointAuthMethod), null)
    assert.equal(URL.parse(uri)?.username, '')
    assert.ok(redirectMatches(uri, [uri]) && redirectHostOf(uri) !== '' && typeof isShared(uri) === 'boolean')
  }
  for (const origin of allowedCorsOrigins) assert.equal(originFault(origin), null)
  assert.equal(read.keys === null, tokenEndpointAuthMethod === 'none')
}

function assertModels(body: Buffer): void {
  const models = readModels(body) ?? []
  assert.equal(new Set(models.map(({ id }) => id)).size, models.length)
  for (const { id, displayName, created } of models) {
    assert.match(id, /^[!-~]{1,256}$/)
    assert.ok(displayName !== '' && Number.isSafeInteger(created) && created >= 0)
    assert.doesNotThrow(() => new Date(created * 1000).toISOString())
  }
}

function assertVerdict(json: string): void {
  const verdict = readVerdict(json, texts)
  if (verdict === null || verdict.kind === 'allow') return
  assert.ok(verdict.names.length > 0)
  for (const name of verdict.names) assert.match(name, /^webhook(?::[a-z][a-z0-9_.-]{0,31})?$/)
}

/** Replacing the texts of JSON is replacing those of its value. */
function assertTexts(json: string, value: unknown): void {
  const found = textsOf(json)
  const replacements = new Map(found.map(text => [text, `${text}"\\é`]))
  const replaced = replaceTexts(json, replacements)
  if (replaced === null) return
  const expected = withTexts(value, '', replacements)
  assert.deepEqual(JSON.parse(replaced), expected)
}

function withTexts(value: unknown, name: string, replacements: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return structural.has(name) ? value : (replacements.get(value) ?? value)
  if (Array.isArray(value)) return value.map(item => withTexts(item, '', replacements))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withTexts(item, key, replacements)]),
  )
}

function assertClaims(claims: Readonly<Record<string, unknown>>): void {
  for (const name of [...Object.keys(claims), '__proto__', 'constructor']) {
    const value = fieldValueOf(claims, name)
    if (value !== null) assert.match(value, /^[!-~](?:[ -~]*[!-~])?$/)
  }
  for (const scope of scopesIn(claims)) assert.equal(typeof scope, 'string')
}

function valueIn(body: Buffer): Readonly<Record<string, unknown>> {
  const value = parse(body.toString())
  return isObject(value) ? value : {}
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const url = 'https://app.example/oauth.json'
const point = 'a'.repeat(43)
const clientData = (type: string) =>
  Buffer.from(JSON.stringify({ type, challenge: 'abc', origin: 'https://a' })).toString('base64url')
const passkey = (type: string, response: object) =>
  JSON.stringify({
    id: 'abc',
    rawId: 'abc',
    type: 'public-key',
    response: { clientDataJSON: clientData(type), ...response },
  })

export const target: Target = {
  seeds: [
    JSON.stringify({
      client_id: url,
      client_name: 'App',
      redirect_uris: ['https://app.example/back', 'http://127.0.0.1:8080/x'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'a b',
      client_uri: 'https://app.example/',
      policy_uri: 'https://app.example/p',
    }),
    JSON.stringify({
      client_id: url,
      redirect_uris: ['https://app.example/back?a=b'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: point, y: point, kid: 'a', use: 'sig', alg: 'ES256' }] },
    }),
    JSON.stringify({
      client_id: url,
      redirect_uris: ['com.example.app:/x'],
      jwks_uri: 'https://app.example/k',
    }),
    JSON.stringify({
      keys: [
        { kty: 'RSA', n: 'a', e: 'AQAB' },
        { kty: 'EC', crv: 'P-256', x: point, y: point },
      ],
    }),
    JSON.stringify({
      data: [
        { id: 'models/a', created: 1 },
        { id: 'b', created_at: '2026-01-31T00:00:00Z', display_name: 'B' },
      ],
    }),
    JSON.stringify({ verdict: 'replace', findings: ['pii.name'], texts: ['hello', 'you'] }),
    JSON.stringify({ verdict: 'block', findings: [] }),
    passkey('webauthn.create', { attestationObject: 'abc', transports: ['usb', 'internal'] }),
    passkey('webauthn.get', {
      authenticatorData: 'abc',
      signature: 'abc',
      userHandle: 'AAAAAAAAAAAAAAAAAAAAAA',
    }),
    '{"model":"gpt","messages":[{"role":"user","content":"a\\"b\\u00e9"},"model"],"type":[ "x" ]}',
    JSON.stringify({
      iss: 'https://a',
      aud: ['a', 'b'],
      exp: 1,
      scope: 'a b',
      scp: ['c'],
      groups: ['x', 1, true],
    }),
  ],
  tokens: [
    ...['{', '}', '[', ']', ':', ',', '"', '\\', '\\u0000', '\\ud800', 'null', 'true', '1e9', '-1', '0.5'],
    ...[
      '"client_id"',
      '"redirect_uris"',
      '"jwks"',
      '"jwks_uri"',
      '"scope"',
      '"client_secret"',
      '"__proto__":',
    ],
    ...[
      'http://127.0.0.1:1/',
      'http://[::1]/',
      'https://',
      'com.example:/',
      'javascript:',
      '#',
      '?code=',
      '@',
      '\\t',
    ],
    ...[
      '"verdict"',
      '"allow"',
      '"flag"',
      '"findings"',
      '"texts"',
      '"data"',
      '"created"',
      '"model"',
      '"role"',
      '"keys"',
    ],
    ...[
      '"crossOrigin":true',
      '"userHandle":',
      '"transports":',
      clientData('webauthn.get'),
      '\xc3\xa9',
      '\xef\xbb\xbf',
    ],
  ],
  maxLength: 2048,
  covers: [
    'src/oauth/documents/read-document.ts',
    'src/oauth/clients/',
    'src/ai/providers/listed-models.ts',
    'src/guard/webhook/',
    'src/people/passkeys/ceremony-response.ts',
    'src/protect/claims.ts',
  ],
  combine: mutateJson,
  attempt,
}
