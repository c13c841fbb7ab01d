// The promises of a store about tokens: all that holds for records, and that a digest finds one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
}
