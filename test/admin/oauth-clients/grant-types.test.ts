import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readGrants } from '../../../src/admin/oauth-clients/grant-types.ts'
import { Field } from '../../../src/admin/http/field.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import { oauthClient } from '../../store/contract-specimens.ts'

const names = ['grant_types', 'response_types', 'scopes', 'optional_scopes'] as const
const kept = oauthClient({
  grantTypes: ['authorization_code'],
  scopes: ['user.read', 'ai_gateway.run'],
  optionalScopes: ['user.read'],
})
const both = ['authorization_code', 'refresh_token']

function read(body: object, of = kept) {
  const faults: Fault[] = []
  const grants = readGrants(new Field(body, faults).members([], names), of, oauthScopes)
  return { grants, faults: faults.map(({ pointer, message }) => [pointer, message]) }
}
const messageOf = (body: object) => read(body).faults.map(([, message]) => message)[0]

test('members that a body does not mention stay as they are', () => {
  const { grantTypes, responseTypes, scopes, optionalScopes } = kept
  assert.deepEqual(read({}), { grants: { grantTypes, responseTypes, scopes, optionalScopes }, faults: [] })
})

test('offline_access comes with refresh_token, at the end or where it stands, and goes with it', () => {
  const scopesOf = (body: object, of = kept) => read(body, of).grants.scopes
  assert.deepEqual(scopesOf({ grant_types: both }), ['user.read', 'ai_gateway.run', 'offline_access'])
  assert.deepEqual(scopesOf({ grant_types: both, scopes: ['offline_access', 'user.read'] }), [
    'offline_access',
    'user.read',
  ])
  const refreshing = oauthClient({ scopes: ['ai_gateway.run', 'offline_access'] })
  assert.deepEqual(scopesOf({ grant_types: ['authorization_code'] }, refreshing), ['ai_gateway.run'])
  assert.deepEqual(scopesOf({ scopes: ['openid'] }, refreshing), ['openid', 'offline_access'])
})

test('another flow is refused by name, with the one that is supported', () => {
  const flow = /only the Authorization Code flow is supported/
  for (const grant of ['implicit', 'password', 'client_credentials'])
    assert.match(messageOf({ grant_types: ['authorization_code', grant] })!, new RegExp(`"${grant}"`))
  assert.match(messageOf({ grant_types: ['implicit'] })!, flow)
  assert.match(messageOf({ grant_types: ['refresh_token'] })!, /must include authorization_code: only/)
  assert.match(messageOf({ response_types: ['token'] })!, flow)
  assert.match(messageOf({ grant_types: ['authorization_code', {}] })!, /cannot be anything but a string/)
})

test('quoted input of a caller is cut', () => {
  assert.ok(messageOf({ response_types: ['x'.repeat(1_000)] })!.length < 200)
})

test('a scope must be on the list, and a mistake refers to it', () => {
  const { faults, grants } = read({ scopes: oauthScopes.map(({ id }) => id) })
  assert.deepEqual([faults, grants.scopes.includes('offline_access')], [[], false])
  assert.deepEqual(read({ scopes: ['user.read', 'offline', 'ai_gateway:run'] }).faults, [
    ['/scopes/1', 'scopes[1] must be a scope id: see /client/v4/oauth/scopes'],
    [
      '/scopes/2',
      'scopes[2] must be a scope id, written with dots instead of colons: see /client/v4/oauth/scopes',
    ],
  ])
  assert.match(messageOf({ scopes: ['offline_access'] })!, /must include a scope other than offline_access$/)
})

test('some scopes may be optional, but none that cannot be declined', () => {
  const scopes = ['openid', 'user.read', 'ai_gateway.run', 'offline_access']
  const optional = (...optional_scopes: string[]) =>
    read({ grant_types: both, scopes, optional_scopes }).faults
  assert.deepEqual(optional('user.read', 'ai_gateway.run'), [])
  assert.deepEqual(optional('openid', 'offline_access', 'offline', 'ai_gateway.read'), [
    ['/optional_scopes/0', 'optional_scopes[0] cannot be openid: users cannot decline it'],
    ['/optional_scopes/1', 'optional_scopes[1] cannot be offline_access: users cannot decline it'],
    ['/optional_scopes/2', 'optional_scopes[2] must also be in scopes'],
    ['/optional_scopes/3', 'optional_scopes[3] must also be in scopes'],
  ])
})

test('a scope stays as long as it is optional, and goes with its leave', () => {
  const scopes = ['ai_gateway.run']
  assert.deepEqual(read({ scopes }).faults, [
    ['/scopes', 'scopes must include user.read, since optional_scopes does'],
  ])
  for (const optional_scopes of [[], null, scopes])
    assert.deepEqual(read({ scopes, optional_scopes }).faults, [])
})
