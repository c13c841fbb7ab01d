import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInPerson, PersonTokens } from '../../../src/people/sign-in/person-token.ts'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { permits, reaches } from '../../../src/permissions/permit.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { openStore } from '../../../src/store/open.ts'
import { account, member } from '../../store/contract-specimens.ts'
import { userWith } from '../user-with.ts'

const [, administrator, , gateways, readOnly] = roles

test('a person may do in each account what their roles there include, and nothing elsewhere', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  const user = userWith()
  await store.users.insert(user)
  const places = {
    run: account({ id: 'a'.repeat(32), name: 'run' }),
    seen: account({ id: 'b'.repeat(32), name: 'seen' }),
    invited: account({ id: 'c'.repeat(32), name: 'invited' }),
    strict: account({ id: 'd'.repeat(32), name: 'strict', enforceTwoFactor: true }),
    other: account({ id: 'e'.repeat(32), name: 'other' }),
  }
  for (const place of Object.values(places)) await store.accounts.insert(place)
  const join = (
    place: { id: string },
    id: string,
    role: string,
    status: 'accepted' | 'pending' = 'accepted',
  ) =>
    store.members.insert(
      member({ account: place.id, id, user: user.id, roles: [role], status, isSuper: false }),
    )
  await join(places.run, '1'.repeat(32), gateways!.id)
  await join(places.seen, '2'.repeat(32), readOnly!.id)
  await join(places.invited, '3'.repeat(32), administrator!.id, 'pending')
  await join(places.strict, '4'.repeat(32), administrator!.id)
  const { session } = await new Sessions(store).begin(
    user,
    { method: 'password', secondFactor: false, at: Date.now() },
    { address: '192.0.2.1', userAgent: null, ray: '0' },
  )

  const { token, places: shown } = await new PersonTokens(store).of({ user, session })
  assert.deepEqual(
    new Set(shown.map(({ name, isShut }) => `${name}${isShut ? ', shut' : ''}`)),
    new Set(['run', 'seen', 'strict, shut']),
  )
  const may = (permission: Parameters<typeof permits>[1], place: { id: string }) =>
    permits(token, permission, place.id)
  assert.deepEqual(
    [
      may('AI Gateway Run', places.run),
      may('API Tokens Read', places.run),
      may('API Tokens Read', places.seen),
    ],
    [true, false, true],
  )
  assert.equal(may('API Tokens Write', places.seen), false)
  for (const place of [places.invited, places.strict, places.other]) {
    assert.equal(may('API Tokens Read', place), false, place.name)
    assert.equal(reaches(token, place.id), false, place.name)
  }
  assert.equal(isInPerson(token.actor!), true)
  assert.equal(isInPerson({ client: 'f'.repeat(32) }), false)
  assert.deepEqual([token.id, token.actor!.grant], [user.id, session.id])
  const verified = await new PersonTokens(store).of({ user: { ...user, emailVerifiedAt: 1 }, session })
  assert.deepEqual(
    [token, verified.token].map(({ actor }) => actor!.isEmailVerified),
    [undefined, true],
  )
})
