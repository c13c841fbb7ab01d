import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { ClientDirectory } from '../../../src/oauth/clients/client-directory.ts'
import { readLogout } from '../../../src/oauth-server/endpoints/logout-request.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Jwk } from '../../../src/tokens/signing-keys.ts'
import { clientWith } from '../../oauth/clients/client-with.ts'
import { account } from '../../store/contract-specimens.ts'

const issuer = 'https://id.example'
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const [own, foreign] = [newKey(), newKey()]
const published = { ...own.publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256' } as unknown as Jwk

interface Signed {
  readonly key?: KeyObject
  readonly kid?: unknown
}

function idToken(claims: object, { key = own.privateKey, kid = 'a' }: Signed = {}) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'ES256', kid })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

test('a request to sign out is of a client and a user that an ID token of ours names, and leads where the client has registered', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  const place = account()
  await store.accounts.insert(place)
  const [bye, plain] = ['https://app.example/bye?a=1', 'https://app.example/out']
  const client = clientWith({ account: place.id, postLogoutRedirectUris: [bye, plain] })
  await store.oauthClients.insert(client)
  const other = clientWith({ account: place.id })
  await store.oauthClients.insert(other)
  const parts = { issuer, clients: new ClientDirectory(store), keys: [published] }
  const claims = { iss: issuer, aud: client.id, sub: 'ada', exp: 1 }
  const hint = idToken(claims)
  const read = (params: Readonly<Record<string, string>> | [string, string][]) =>
    readLogout(new URLSearchParams(params), parts)
  const good = (more: object) => ({ kind: 'good', client: null, user: null, location: null, ...more })
  for (const [params, expected] of [
    [{}, good({})],
    [{ client_id: client.id }, good({ client })],
    [{ id_token_hint: hint }, good({ client, user: 'ada' })],
    [{ id_token_hint: hint, client_id: client.id, state: 'x' }, good({ client, user: 'ada' })],
    [{ client_id: client.id, post_logout_redirect_uri: plain }, good({ client, location: plain })],
    [
      { id_token_hint: hint, post_logout_redirect_uri: bye, state: 'x&y' },
      good({ client, user: 'ada', location: `${bye}&state=x%26y` }),
    ],
  ] as const)
    assert.deepEqual(await read(params as Record<string, string>), expected, JSON.stringify(params))
  const [head, body, signature] = hint.split('.')
  const otherBody = idToken({ ...claims, sub: 'eve' }).split('.')[1]
  const invalid = /^id_token_hint is not an ID token issued by this server$/
  const hints = [
    ...['', 'x', `${head}.${body}`, `${head}.${body}.`, `${hint}.`, `${head}.${otherBody}.${signature}`],
    ...[`${head}.e30.${signature}`, `bnVsbA.${body}.${signature}`],
    idToken(claims, { key: foreign.privateKey }),
    ...['b', null, 1].map(kid => idToken(claims, { kid })),
    idToken({ ...claims, iss: 'https://other.example' }),
    idToken({ ...claims, aud: [client.id] }),
    idToken({ ...claims, sub: undefined }),
  ]
  for (const id_token_hint of hints) {
    const answer = await read({ id_token_hint })
    assert.ok(answer.kind === 'fault', id_token_hint)
    assert.match(answer.description, invalid)
  }
  for (const [params, rule] of [
    [{ id_token_hint: hint, client_id: other.id }, /client_id is not that of the id_token_hint/],
    [{ client_id: 'f'.repeat(32) }, /no client has this client_id/],
    [{ id_token_hint: idToken({ ...claims, aud: 'f'.repeat(32) }) }, /no client has this client_id/],
    [{ post_logout_redirect_uri: bye }, /post_logout_redirect_uri needs a client_id/],
    [{ client_id: other.id, post_logout_redirect_uri: bye }, /is not registered for this client/],
    [{ client_id: client.id, post_logout_redirect_uri: `${plain}/` }, /is not registered for this client/],
    ...['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'].map(
      name =>
        [
          [
            [name, 'a'],
            [name, 'a'],
          ],
          new RegExp(`^${name} must not be sent twice$`),
        ] as const,
    ),
  ] as const) {
    const answer = await read(params as Record<string, string>)
    assert.ok(answer.kind === 'fault', JSON.stringify(params))
    assert.match(answer.description, rule)
  }
})
