import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consentIn, consentPath, invitationPath, leadingOn, paths } from '../../../src/pages/parts/paths.ts'
import { safeReturnPath } from '../../../src/pages/parts/return-path.ts'

test('all pages are where the edge publishes them', () => {
  for (const path of Object.values(paths)) assert.match(path, /^\/(auth\/[a-z/-]+|dashboard)$/)
  assert.equal(consentPath('abc'), '/oauth2/consent/abc')
})

test('a path is read as the consent that it was written for', () => {
  assert.equal(consentIn(consentPath('a_-9')), 'a_-9')
  for (const path of [
    '/oauth2/consent/',
    '/oauth2/consent',
    '/oauth2/consent/a/b',
    '/oauth2/consent/%41',
    '/x',
  ])
    assert.equal(consentIn(path), null, path)
})

test('a return path is read back from the query that it was written to', () => {
  const next = '/oauth2/consent/abc?x=1&y=a%2Fb'
  const url = new URL(leadingOn(paths.signIn, next), 'http://own.example')
  assert.deepEqual([url.pathname, url.searchParams.get('next')], [paths.signIn, next])
  assert.equal(safeReturnPath(invitationPath('a_-9'), '/'), '/auth/invitation?token=a_-9')
})
