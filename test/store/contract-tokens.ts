// The promises of a store about tokens: all that holds for records, and that a digest finds one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { busySecond, until } from '../help/until.ts'
import type { Place } from './contract.ts'
import { hex, token } from './contract-specimens.ts'

export function tokensContract(name: string, place: Place): void {
  test(`${name}: a token is kept as it was given`, async t => {
    const { tokens } = await (await place(t))()
    const kept = token({ notBefore: 12, expiresOn: null, addressesNotIn: ['192.0.2.7'], status: 'disabled' })
    assert.equal(await tokens.insert(kept), true)
    assert.deepEqual((await tokens.get(kept.account, kept.id))?.record, kept)
    assert.deepEqual(await tokens.list(kept.account, { offset: 0, limit: 9 }), { items: [kept], total: 1 })
  })

  test(`${name}: tokens are listed by the time they were issued, and then id`, async t => {
    const { tokens } = await (await place(t))()
    const owner = hex(16)
    const ordered = [hex(16), '1'.repeat(32), '2'.repeat(32)].map((id, i) =>
      token({ account: owner, id, issuedOn: i === 0 ? 1000 : 20_000 }),
    )
    for (const i of [2, 0, 1]) await tokens.insert(ordered[i]!)
    assert.deepEqual((await tokens.list(owner, { offset: 0, limit: 9 })).items, ordered)
  })

  test(`${name}: a digest finds its token, whatever the account, and no other digest does`, async t => {
    const { tokens } = await (await place(t))()
    const [one, other] = [token(), token()]
    await tokens.insert(one)
    await tokens.insert(other)
    assert.deepEqual(await tokens.findByDigest(one.digest), one)
    assert.deepEqual(await tokens.findByDigest(other.digest), other)
    assert.equal(await tokens.findByDigest(hex(32)), null)
    assert.equal(await tokens.findByDigest(''), null)
  })

  test(`${name}: a digest finds the token as it was last written`, async t => {
    const { tokens } = await (await place(t))()
    const kept = token()
    await tokens.insert(kept)
    const { version } = (await tokens.get(kept.account, kept.id))!
    await tokens.replace({ ...kept, status: 'disabled' }, version)
    assert.equal((await tokens.findByDigest(kept.digest))?.status, 'disabled')
  })

  test(`${name}: after a roll the new digest finds the token and the old one nothing`, async t => {
    const open = await place(t)
    const [{ tokens }, other] = await Promise.all([open(), open()])
    const kept = token()
    await tokens.insert(kept)
    const { version } = (await tokens.get(kept.account, kept.id))!
    const rolled = { ...kept, digest: hex(32) }
    assert.equal(await tokens.replace(rolled, version), true)
    assert.equal(await tokens.replace({ ...kept, digest: hex(32) }, version), false)
    assert.equal(await other.tokens.findByDigest(kept.digest), null)
    assert.deepEqual(await other.tokens.findByDigest(rolled.digest), rolled)
  })

  test(`${name}: an insert that is refused leaves no digest behind`, async t => {
    const { tokens } = await (await place(t))()
    const kept = token()
    await tokens.insert(kept)
    const late = { ...kept, digest: hex(32) }
    assert.equal(await tokens.insert(late), false)
    assert.equal(await tokens.findByDigest(late.digest), null)
    assert.deepEqual(await tokens.findByDigest(kept.digest), kept)
  })

  test(`${name}: the digest of a token that was removed finds nothing`, async t => {
    const { tokens } = await (await place(t))()
    const kept = token()
    await tokens.insert(kept)
    assert.equal(await tokens.remove(kept.account, kept.id), true)
    assert.equal(await tokens.findByDigest(kept.digest), null)
  })

  test(`${name}: the last use of a token is kept beside it: the record, its version and those who follow changes hear nothing`, async t => {
    const open = await place(t)
    const [{ tokens }, other] = await Promise.all([open(), open()])
    const [one, unused, later] = [token(), token(), token()]
    const { account, id } = one
    const heard: string[] = []
    other.changes.follow(change => heard.push('id' in change ? change.id : change.kind))
    await tokens.insert(one)
    await tokens.insert({ ...unused, account })
    const kept = await tokens.get(account, id)
    await tokens.noteUses([{ account, id, at: 7_000 }])
    await tokens.insert(later)
    await until(() => heard.includes(later.id), busySecond)
    assert.deepEqual(heard, [id, unused.id, later.id])
    assert.deepEqual(await tokens.get(account, id), kept)
    assert.deepEqual(await other.tokens.findByDigest(one.digest), one)
    assert.deepEqual([...(await other.tokens.lastUses(account, [unused.id, id, hex(16)]))], [[id, 7_000]])
    assert.deepEqual([...(await tokens.lastUses(hex(16), [id]))], [])
    assert.deepEqual([...(await tokens.lastUses(account, []))], [])
  })

  test(`${name}: the latest use stays, whoever notes it, and whatever becomes of the record`, async t => {
    const open = await place(t)
    const [{ tokens }, other] = await Promise.all([open(), open()])
    const kept = token()
    const { account, id } = kept
    const lastUse = async () => (await tokens.lastUses(account, [id])).get(id)
    await tokens.insert(kept)
    await Promise.all(
      [5, 9_000, 80].map((at, i) => (i % 2 ? tokens : other.tokens).noteUses([{ account, id, at }])),
    )
    assert.equal(await lastUse(), 9_000)
    const { version } = (await tokens.get(account, id))!
    assert.equal(await tokens.replace({ ...kept, digest: hex(32) }, version), true)
    assert.equal(await lastUse(), 9_000)
  })

  test(`${name}: a token that is removed takes its last use with it, and a late use brings nothing back`, async t => {
    const { tokens } = await (await place(t))()
    const [kept, other] = [token(), token()]
    const { account, id } = kept
    await tokens.insert(kept)
    await tokens.insert(other)
    await tokens.noteUses([{ account, id, at: 1 }])
    await tokens.remove(account, id)
    await tokens.noteUses([
      { account, id, at: 2 },
      { account: other.account, id: other.id, at: 3 },
    ])
    assert.deepEqual([...(await tokens.lastUses(account, [id]))], [])
    await tokens.insert(kept)
    assert.deepEqual([...(await tokens.lastUses(account, [id]))], [])
    assert.deepEqual([...(await tokens.lastUses(other.account, [other.id]))], [[other.id, 3]])
  })

  test(`${name}: many uses are noted at once`, async t => {
    const { tokens } = await (await place(t))()
    const account = hex(16)
    const all = Array.from({ length: 450 }, () => token({ account }))
    for (const one of all) await tokens.insert(one)
    const uses = all.map(({ id }, i) => [id, i + 1] as const)
    await tokens.noteUses(uses.map(([id, at]) => ({ account, id, at })))
    const ids = all.map(({ id }) => id)
    assert.deepEqual([...(await tokens.lastUses(account, ids))], uses)
    await tokens.noteUses([])
  })
}
