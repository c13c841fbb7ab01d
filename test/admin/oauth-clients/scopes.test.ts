import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { tokenWith } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

const path = '/client/v4/oauth/scopes'

test('any token sees the scopes, whatever its account and what it allows', async t => {
  const { ask, kept } = await startApi(t)
  const stranger = tokenWith({ account: '9'.repeat(32) })
  await kept.tokens.insert(stranger.token)
  const { status, json } = await ask('GET', path, { token: stranger.value })
  assert.equal(status, 200)
  assert.equal(json.result.length, oauthScopes.length)
  assert.equal(json.result_info.total_count, oauthScopes.length)
  assert.deepEqual(json.result[0], {
    id: 'openid',
    name: 'OpenID',
    category: 'identity',
    description: 'Tell who the user is by an id token.',
    scopes: ['svc.api.user'],
    is_identity: true,
  })
})

test('their names are those of the permissions of tokens, and those of identity are marked', async t => {
  const { ask } = await startApi(t)
  const { result } = (await ask('GET', path)).json
  const names = (isIdentity: boolean) =>
    result.filter((scope: { is_identity: boolean }) => scope.is_identity === isIdentity)
  assert.deepEqual(
    names(false).map(({ name }: { name: string }) => name),
    permissionGroups.map(({ name }) => name),
  )
  assert.deepEqual(
    names(true).map(({ id }: { id: string }) => id),
    [
      'openid',
      'email',
      'profile',
      'offline_access',
      'user.read',
      'memberships.read',
      'memberships.write',
      'user_access.read',
      'user_access.write',
    ],
  )
})

test('without a token there is no list, and it takes no parameters', async t => {
  const { ask } = await startApi(t)
  const refused = await ask('GET', path, { token: null })
  assert.equal(refused.status, 401)
  assert.match(refused.headers.get('www-authenticate')!, /^Bearer resource_metadata=/)
  assert.equal((await ask('GET', `${path}?page=1`)).status, 400)
})
