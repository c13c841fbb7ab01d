// The promises of a store about users and members beside those for all records: who is unique, who is found how, and who must stay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { everybody, type Member } from '../../src/store/records/people.ts'
import { LastSuperAdministrator, type Store } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import {
  auditEntry,
  auditQuery,
  hex,
  identity,
  storedResponse,
  member,
  passkeys,
  totp,
  user,
} from './contract-specimens.ts'

const all = { offset: 0, limit: 1000 }

export function peopleContract(name: string, place: Place): void {
  test(`${name}: a user is found by id, e-mail address and identity, as they were given`, async t => {
    const { users } = await (await place(t))()
    const full = user({
      identity: identity({ subject: 'a, b ~c !d' }),
      totp: totp({ lastStep: 7 }),
      passkeys: passkeys(),
      recoveryCodes: [hex(32)],
      factorSetAt: 7,
    })
    const bare = user({
      password: null,
      firstName: null,
      passwordChangedAt: null,
      createdAt: full.createdAt + 1,
    })
    for (const kept of [full, bare]) {
      assert.equal(await users.insert(kept), true)
      assert.deepEqual((await users.get(everybody, kept.id))?.record, kept)
      assert.deepEqual(await users.findByEmail(kept.email), await users.get(everybody, kept.id))
    }
    assert.deepEqual(await users.findByIdentity(full.identity!), await users.get(everybody, full.id))
    assert.equal(await users.findByIdentity(identity()), null)
    assert.equal(await users.findByEmail(`${full.email}.`), null)
    assert.equal(await users.findByEmail(''), null)
    assert.deepEqual(await users.list(everybody, all), { items: [full, bare], total: 2 })
    const asked = [bare.id, 'f'.repeat(32), ...Array.from({ length: 300 }, () => full.id)]
    const found = await users.withIds(asked)
    assert.deepEqual([found.length, new Set(found.map(({ id }) => id))], [301, new Set([bare.id, full.id])])
    assert.deepEqual(found[0], bare)
    assert.deepEqual(await users.withIds([]), [])
  })

  test(`${name}: what found a user finds nobody once that is changed, or the user gone`, async t => {
    const open = await place(t)
    const [{ users }, other] = await Promise.all([open(), open()])
    const kept = user({ identity: identity() })
    await users.insert(kept)
    const moved = { ...kept, email: `new-${kept.email}`, identity: identity() }
    assert.equal(await users.replace(moved, (await users.get(everybody, kept.id))!.version), true)
    assert.equal(await other.users.findByEmail(kept.email), null)
    assert.equal(await other.users.findByIdentity(kept.identity!), null)
    assert.deepEqual((await other.users.findByEmail(moved.email))?.record, moved)
    assert.deepEqual((await other.users.findByIdentity(moved.identity))?.record, moved)
    assert.equal(await users.insert(user({ email: kept.email, identity: kept.identity })), true)
    assert.equal(await users.remove(everybody, kept.id), true)
    assert.equal(await other.users.findByEmail(moved.email), null)
    assert.equal(await other.users.findByIdentity(moved.identity), null)
    assert.equal(await users.insert(user({ email: moved.email, identity: moved.identity })), true)
  })

  test(`${name}: neither e-mail address nor identity is taken from another user`, async t => {
    const store = await (await place(t))()
    const { users } = store
    const [one, other] = [user({ identity: identity() }), user({ identity: identity() })]
    for (const kept of [one, other]) await users.insert(kept)
    const together = {
      audit: auditEntry({ account: everybody }),
      response: storedResponse({ account: everybody }),
    }
    assert.equal(await users.insert(user({ email: one.email }), together), false)
    assert.equal(await users.insert(user({ identity: one.identity }), together), false)
    const before = (await users.get(everybody, other.id))!
    assert.equal(await users.replace({ ...other, email: one.email }, before.version, together), false)
    assert.equal(await users.replace({ ...other, identity: one.identity }, before.version, together), false)
    assert.deepEqual(await users.get(everybody, other.id), before)
    assert.equal((await users.list(everybody, all)).total, 2)
    assert.equal((await store.audit.list(everybody, auditQuery())).total, 0)
    assert.equal(await store.responses.get(everybody, together.response.key), null)
  })

  test(`${name}: of 20 users at once with one e-mail address, and with one identity, one is kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const [{ email }, who] = [user(), identity()]
    const rounds = [() => user({ email }), () => user({ identity: who })]
    for (const make of rounds) {
      const tries = Array.from({ length: 20 }, make)
      const kept = await Promise.all(tries.map((one, i) => stores[i % 2]!.users.insert(one)))
      assert.equal(kept.filter(Boolean).length, 1)
    }
    const found = [await stores[0]!.users.findByEmail(email), await stores[0]!.users.findByIdentity(who)]
    assert.deepEqual((await stores[1]!.users.list(everybody, all)).items.length, 2)
    assert.ok(found.every(Boolean))
  })

  test(`${name}: a member is found by account and user, and a user's are listed by creation`, async t => {
    const { members } = await (await place(t))()
    const [person, account] = [hex(16), hex(16)]
    const theirs = [3, 1, 2, 2].map((createdAt, i) =>
      member({ user: person, createdAt, id: `${i}`.repeat(32) }),
    )
    const ours = member({ account, user: person, createdAt: 4, status: 'pending', roles: [] })
    for (const one of [...theirs, ours, member({ account })]) assert.equal(await members.insert(one), true)
    assert.deepEqual(await members.find(account, person), await members.get(account, ours.id))
    assert.deepEqual((await members.find(account, person))?.record, ours)
    assert.equal(await members.find(hex(16), person), null)
    assert.equal(await members.find(account, hex(16)), null)
    const ordered = [theirs[1], theirs[2], theirs[3], theirs[0], ours]
    assert.deepEqual(await members.ofUser(person), ordered)
    assert.deepEqual(await members.ofUser(hex(16)), [])
    assert.equal((await members.list(account, all)).total, 2)
    const { version } = (await members.get(account, ours.id))!
    const accepted = { ...ours, status: 'accepted', roles: [hex(16)] } as const
    assert.equal(await members.replace(accepted, version), true)
    await members.remove(theirs[0]!.account, theirs[0]!.id)
    assert.deepEqual(await members.ofUser(person), [...ordered.slice(0, 3), accepted])
    assert.equal(await members.find(theirs[0]!.account, person), null)
  })

  test(`${name}: of a user with more memberships than one look takes, all up to 1,000 are listed`, async t => {
    const { members } = await (await place(t))()
    const person = hex(16)
    const many = Array.from({ length: 450 }, (_, createdAt) => member({ user: person, createdAt }))
    await Promise.all(many.map(one => members.insert(one)))
    assert.deepEqual(await members.ofUser(person), many)
  })

  test(`${name}: of 20 members at once of one user in one account, one is kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const { account, user: person } = member()
    const tries = Array.from({ length: 20 }, () => member({ account, user: person }))
    const kept = await Promise.all(tries.map((one, i) => stores[i % 2]!.members.insert(one)))
    assert.equal(kept.filter(Boolean).length, 1)
    assert.deepEqual(await stores[0]!.members.list(account, all), {
      items: [tries[kept.indexOf(true)]],
      total: 1,
    })
    assert.equal(await stores[0]!.members.insert(member({ user: person })), true)
    assert.equal((await stores[0]!.members.ofUser(person)).length, 2)
  })

  test(`${name}: the last accepted super administrator stays one`, async t => {
    const store = await (await place(t))()
    const { members, audit, responses } = store
    const account = hex(16)
    const only = member({ account, isSuper: true })
    const others = [
      member({ account }),
      member({ account, isSuper: true, status: 'pending' }),
      member({ isSuper: true }),
    ]
    for (const one of [only, ...others]) await members.insert(one)
    const before = (await members.get(account, only.id))!
    const together = { audit: auditEntry({ account }), response: storedResponse({ account }) }
    for (const less of [
      { isSuper: false },
      { status: 'pending' },
      { isSuper: false, status: 'pending' },
    ] as const)
      await assert.rejects(
        members.replace({ ...only, ...less }, before.version, together),
        LastSuperAdministrator,
        JSON.stringify(less),
      )
    await assert.rejects(members.remove(account, only.id, together), { code: 'GH_LAST_SUPER_ADMINISTRATOR' })
    await assert.rejects(members.remove(account, only.id, together, before.version), LastSuperAdministrator)
    assert.deepEqual(await members.get(account, only.id), before)
    assert.equal((await audit.list(account, auditQuery())).total, 0)
    assert.equal(await responses.get(account, together.response.key), null)
    assert.equal(await members.remove(account, only.id, together, before.version - 1), false)
    const renamed = { ...only, roles: [hex(16), hex(16)] }
    assert.equal(await members.replace(renamed, before.version, together), true)
    for (const { account: where, id } of others.slice(0, 2))
      assert.equal(await members.remove(where, id), true)
    await members.insert(member({ account, isSuper: true }))
    assert.equal(await members.remove(account, only.id), true)
  })

  test(`${name}: of 20 attempts at once on two super administrators, one of these stays`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const { members } = stores[0]!
    const account = hex(16)
    const both = [member({ account, isSuper: true }), member({ account, isSuper: true })]
    for (const one of both) await members.insert(one)
    const versions = await Promise.all(both.map(async ({ id }) => (await members.get(account, id))!.version))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => {
        const [one, version, store] = [both[i % 2]!, versions[i % 2]!, stores[(i >> 1) % 2]!.members]
        if (i < 8) return store.remove(account, one.id)
        return store.replace({ ...one, ...(i < 14 ? { isSuper: false } : { status: 'pending' }) }, version)
      }),
    )
    const refusals = outcomes.filter(({ status }) => status === 'rejected')
    for (const { reason } of refusals as PromiseRejectedResult[])
      assert.ok(reason instanceof LastSuperAdministrator, String(reason))
    assert.equal(outcomes.filter(one => one.status === 'fulfilled' && one.value).length, 1)
    assert.ok(refusals.length > 0)
    assert.equal((await supersOf(stores[1]!, account)).length, 1)
  })

  test(`${name}: whatever is done to members, who is found is who is kept, and no account loses its last super administrator`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const step = fc.record({
      action: fc.constantFrom('insert', 'replace', 'remove'),
      who: fc.nat(2),
      where: fc.nat(1),
      isSuper: fc.boolean(),
      status: fc.constantFrom('pending', 'accepted'),
      store: fc.nat(1),
    } as const)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
        const [people, accounts] = [Array.from({ length: 3 }, () => hex(16)), [hex(16), hex(16)]]
        const model = new Map<string, Member>()
        for (const { action, who, where, isSuper, status, store } of steps) {
          const { members } = stores[store]!
          const [account, person, name] = [accounts[where]!, people[who]!, `${where} ${who}`]
          const kept = model.get(name)
          const next = member({
            account,
            user: person,
            isSuper,
            status,
            ...(action === 'replace' && kept && { id: kept.id }),
          })
          const after = new Map(model)
          if (action === 'remove') after.delete(name)
          else if (action === 'replace' ? kept : !kept) after.set(name, next)
          const isLoss = isLed(model, account) && !isLed(after, account)
          const read = kept && (await members.get(account, kept.id))
          const work = () =>
            action === 'insert'
              ? members.insert(next)
              : action === 'replace'
                ? members.replace(next, read?.version ?? 1)
                : members.remove(account, kept?.id ?? hex(16))
          if (isLoss) await assert.rejects(work(), LastSuperAdministrator)
          else {
            assert.equal(await work(), action === 'insert' ? !kept : kept !== undefined)
            if (action === 'remove') model.delete(name)
            else if (after.get(name) === next) model.set(name, next)
          }
          assert.deepEqual((await members.find(account, person))?.record, model.get(name))
        }
        for (const [who, person] of people.entries()) {
          const theirs = [0, 1].flatMap(where => model.get(`${where} ${who}`) ?? [])
          const byId = (one: Member, other: Member) => (one.id < other.id ? -1 : 1)
          assert.deepEqual(await stores[0]!.members.ofUser(person), theirs.toSorted(byId))
        }
      }),
      { numRuns: 25 },
    )
  })
}

function isLed(members: ReadonlyMap<string, Member>, account: string): boolean {
  return [...members.values()].some(
    one => one.account === account && one.isSuper && one.status === 'accepted',
  )
}

async function supersOf({ members }: Store, account: string): Promise<readonly Member[]> {
  const { items } = await members.list(account, all)
  return items.filter(({ isSuper, status }) => isSuper && status === 'accepted')
}
