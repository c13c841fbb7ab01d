import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  mintSecret,
  secretThatMatches,
  withNewSecret,
  withoutOldSecret,
} from '../../../src/oauth/clients/secret.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import type { ClientSecret, TokenEndpointAuthMethod } from '../../../src/store/records/oauth-client.ts'
import { clientWith, keys, mint } from './client-with.ts'

test('a new secret can be told by its prefix, and is kept as digest and tail', () => {
  const { value, secret } = mintSecret(keys, 7)
  assert.match(value, /^svcs_[\w-]{43}$/)
  assert.equal(Buffer.from(value.slice(5), 'base64url').length, 32)
  assert.deepEqual(secret, { ...keys.digest(value), tail: value.slice(-4), createdAt: 7, lastUsedAt: null })
  assert.notEqual(mintSecret(keys, 7).value, value)
})

describe('the states of rotation', () => {
  const [newest, newer, older] = [mint(3), mint(2), mint(1)]
  type State = readonly [method: TokenEndpointAuthMethod, secrets: readonly ClientSecret[]]
  type Outcome = readonly ClientSecret[] | string
  const table: readonly (readonly [name: string, state: State, afterNew: Outcome, afterRemoval: Outcome])[] =
    [
      ['none', ['none', []], 'no_secrets', 'one_secret'],
      ['basic, one secret', ['client_secret_basic', [newer]], [newest, newer], 'one_secret'],
      ['post, one secret', ['client_secret_post', [newer]], [newest, newer], 'one_secret'],
      ['basic, two secrets', ['client_secret_basic', [newer, older]], 'two_secrets', [newer]],
      ['post, two secrets', ['client_secret_post', [newer, older]], 'two_secrets', [newer]],
    ]
  for (const [name, [tokenEndpointAuthMethod, secrets], afterNew, afterRemoval] of table) {
    test(name, () => {
      const client = clientWith({ tokenEndpointAuthMethod, secrets })
      const expect = (result: unknown, outcome: Outcome) =>
        assert.deepEqual(result, typeof outcome === 'string' ? outcome : { ...client, secrets: outcome })
      expect(withNewSecret(client, newest), afterNew)
      expect(withoutOldSecret(client), afterRemoval)
      assert.deepEqual(client.secrets, secrets)
    })
  }
})

describe('the secret that matches', () => {
  const [current, old] = [mintSecret(keys, 2), mintSecret(keys, 1)]
  const client = clientWith({ secrets: [current.secret, old.secret] })

  test('is either of two until one is removed', () => {
    assert.equal(secretThatMatches(client, current.value, keys), current.secret)
    assert.equal(secretThatMatches(client, old.value, keys), old.secret)
    const after = withoutOldSecret(client)
    assert.ok(typeof after === 'object')
    assert.equal(secretThatMatches(after, current.value, keys), current.secret)
    assert.equal(secretThatMatches(after, old.value, keys), null)
  })

  test('is none for another value, and for a client without secrets', () => {
    for (const value of ['', 'svcs_', mintSecret(keys, 1).value, current.secret.digest])
      assert.equal(secretThatMatches(client, value, keys), null)
    assert.equal(secretThatMatches(clientWith({ secrets: [] }), current.value, keys), null)
  })

  test('is looked for among all of them, whichever it is', () => {
    const compared: string[] = []
    const counting = Object.assign(Object.create(keys), {
      matches: (secret: ClientSecret, value: string) => {
        compared.push(secret.tail)
        return keys.matches(secret, value)
      },
    }) as SecretKeys
    const tails = client.secrets.map(({ tail }) => tail)
    for (const value of [current.value, old.value, 'svcs_another']) {
      secretThatMatches(client, value, counting)
      assert.deepEqual(compared.splice(0), tails)
    }
  })

  test('may be one of a key that is old by now', () => {
    const renewed = new SecretKeys(randomBytes(32), [Buffer.alloc(32, 'key')])
    const next = mintSecret(renewed, 3)
    const rotated = clientWith({ secrets: [next.secret, current.secret] })
    assert.equal(secretThatMatches(rotated, current.value, renewed), current.secret)
    assert.equal(secretThatMatches(rotated, next.value, renewed), next.secret)
    assert.equal(secretThatMatches(rotated, next.value, keys), null)
  })
})
