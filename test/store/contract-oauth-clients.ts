// The promises of a store about OAuth clients: all that holds for records; contract-due.ts has what they promise beside.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import type { Place } from './contract.ts'
import { hex, oauthClient } from './contract-specimens.ts'

const all = { offset: 0, limit: 1000 }

export function oauthClientsContract(name: string, place: Place): void {
  test(`${name}: an OAuth client is kept as it was given, and gone once it is removed`, async t => {
    const { oauthClients } = await (await place(t))()
    const full = oauthClient()
    const bare: OAuthClient = {
      ...oauthClient({ account: full.account, createdAt: full.createdAt + 1 }),
      ...{ tokenEndpointAuthMethod: 'none', secrets: [], allowedCorsOrigins: [], scopes: [] },
      ...{ logoUri: null, clientUri: null, verification: null },
    }
    for (const kept of [full, bare]) {
      assert.equal(await oauthClients.insert(kept), true)
      assert.deepEqual((await oauthClients.get(kept.account, kept.id))?.record, kept)
    }
    assert.deepEqual(await oauthClients.list(full.account, all), { items: [full, bare], total: 2 })
    assert.equal(await oauthClients.remove(full.account, full.id), true)
    assert.equal(await oauthClients.get(full.account, full.id), null)
    assert.equal(await oauthClients.remove(full.account, full.id), false)
    assert.deepEqual(await oauthClients.list(full.account, all), { items: [bare], total: 1 })
  })

  test(`${name}: an OAuth client is found by its id, whichever account owns it`, async t => {
    const { accounts, oauthClients } = await (await place(t))()
    const owners = [hex(16), hex(16)]
    for (const id of owners) await accounts.insert({ id, name: 'Owner', createdAt: 1 })
    const clients = owners.map(account => oauthClient({ account }))
    for (const client of clients) await oauthClients.insert(client)
    for (const client of clients) assert.deepEqual(await oauthClients.find(client.id), client)
    assert.equal(await oauthClients.find(hex(16)), null)
    await oauthClients.remove(owners[1]!, clients[1]!.id)
    assert.equal(await oauthClients.find(clients[1]!.id), null)
  })

  test(`${name}: an OAuth client whose id is taken is not kept`, async t => {
    const { oauthClients } = await (await place(t))()
    const kept = oauthClient()
    await oauthClients.insert(kept)
    assert.equal(await oauthClients.insert({ ...kept, name: 'Another' }), false)
    assert.deepEqual((await oauthClients.get(kept.account, kept.id))?.record, kept)
  })

  test(`${name}: OAuth clients are listed by creation and then id, a page at a time`, async t => {
    const { oauthClients } = await (await place(t))()
    const owner = hex(16)
    const ordered = [hex(16), '1'.repeat(32), '2'.repeat(32)].map((id, i) =>
      oauthClient({ account: owner, id, createdAt: i === 0 ? 1000 : 20_000 }),
    )
    for (const i of [2, 0, 1]) await oauthClients.insert(ordered[i]!)
    await oauthClients.insert(oauthClient())
    assert.deepEqual(await oauthClients.list(owner, all), { items: ordered, total: 3 })
    const second = await oauthClients.list(owner, { offset: 1, limit: 1 })
    assert.deepEqual(second, { items: [ordered[1]], total: 3 })
  })

  test(`${name}: no change of parallel writers of an OAuth client is lost`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open(), open()])
    const kept = oauthClient({ redirectUris: [] })
    await stores[0]!.oauthClients.insert(kept)
    const add = async (i: number): Promise<void> => {
      const { oauthClients } = stores[i % stores.length]!
      const { record, version } = (await oauthClients.get(kept.account, kept.id))!
      const redirectUris = [...record.redirectUris, `https://app.example.com/${i}`]
      const isKept = await oauthClients.replace({ ...record, redirectUris }, version)
      if (!isKept) await add(i)
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(i)))
    const { record } = (await stores[0]!.oauthClients.get(kept.account, kept.id))!
    assert.equal(new Set(record.redirectUris).size, 20)
  })

  test(`${name}: a search finds the clients that have a text in their names, in any case`, async t => {
    const { oauthClients } = await (await place(t))()
    const owner = hex(16)
    const names = [
      ...['Shop', 'shop', 'Work"shop', 'SHOP\\', 'shop",', '"', '\\', 'a\\"b', '","visibility":"public"'],
      ...[
        'Straße',
        'STRASSE',
        'Ωmega',
        'ωMEGA',
        'İstanbul',
        'istanbul',
        '\u212aelvin',
        'kelvin',
        '日本',
        '😀 shop',
      ],
    ]
    const ordered = names.map((name, i) =>
      oauthClient({
        account: owner,
        name,
        createdAt: 1_000 + (i >> 1),
        visibility: i % 3 === 0 ? 'public' : 'private',
        clientUri: `https://${i}.example/?"name":"shop"`,
      }),
    )
    ordered.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    for (const client of [...ordered, oauthClient({ name: 'shop' })]) await oauthClients.insert(client)
    const text = fc.oneof(
      fc.constantFrom(
        '',
        'shop',
        'SHOP',
        '"',
        '\\',
        '\\"',
        ',',
        'ss',
        'ß',
        'ω',
        'Ω',
        'i',
        'İ',
        'k',
        '本',
        '😀',
        '%',
        '*',
      ),
      fc.string({ maxLength: 2 }),
    )
    const visibility = fc.constantFrom(null, 'private' as const, 'public' as const)
    const limit = fc.integer({ min: 0, max: 20 })
    const after = fc.option(fc.nat(names.length - 1))
    await fc.assert(
      fc.asyncProperty(
        text,
        visibility,
        fc.nat(5),
        limit,
        after,
        async (text, visibility, offset, limit, after) => {
          const wanted = (client: OAuthClient) =>
            client.name.toLowerCase().includes(text.toLowerCase()) &&
            (visibility === null || client.visibility === visibility)
          const last = after === null ? null : ordered[after]!
          const place = last && { at: last.createdAt, id: last.id }
          const behind = last === null ? ordered : ordered.slice(ordered.indexOf(last) + 1)
          const found = await oauthClients.search(
            owner,
            { name: text, visibility },
            { offset, limit, after: place },
          )
          const page = behind.filter(wanted).slice(offset, offset + limit)
          assert.deepEqual(found, { items: page, total: ordered.filter(wanted).length })
        },
      ),
      { numRuns: 150 },
    )
  })

  test(`${name}: a search goes through more clients than one step has, and knows what has changed`, async t => {
    const open = await place(t)
    const [one, other] = await Promise.all([open(), open()])
    const account = hex(16)
    const clients = Array.from({ length: 1_203 }, (_, i) =>
      oauthClient({ account, name: `Client ${i}`, createdAt: 1_000 + (i >> 3) }),
    )
    for (let from = 0; from < clients.length; from += 200)
      await Promise.all(clients.slice(from, from + 200).map(client => one.oauthClients.insert(client)))
    const search = (name: string, limit = 50, offset = 0) =>
      other.oauthClients.search(account, { name, visibility: null }, { offset, limit })
    const named = async (name: string) => (await search(name)).items.map(client => client.name)
    assert.equal((await search('CLIENT', 1_000)).total, 1_203)
    assert.equal((await search('client', 1, 1_202)).items.length, 1)
    assert.deepEqual(await named('client 1202'), ['Client 1202'])
    const [client] = (await search('client 1202')).items
    const { version } = (await one.oauthClients.get(account, client!.id))!
    await one.oauthClients.replace({ ...client!, name: 'Ünlike' }, version)
    assert.deepEqual([await named('client 1202'), await named('ÜNLIKE')], [[], ['Ünlike']])
    assert.equal((await search('client', 10)).total, 1_202)
    await one.oauthClients.remove(account, client!.id)
    assert.deepEqual(await search('ünlike'), { items: [], total: 0 })
  })
}
