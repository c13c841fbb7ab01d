import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { gateway, oauthClient } from '../../store/contract-specimens.ts'
import { zoneWith } from '../../admin/zones/zones.ts'
import { hostile } from '../fixtures.ts'
import { openDashboard } from '../site.ts'

/** Opens an account in which one of each kind has the word tea in its name, and one has not. */
async function open(t: TestContext) {
  const site = await openDashboard(t)
  const { account, kept, given, keepToken, addPerson } = site
  for (const name of ['Tea Ledger', 'Coffee']) await kept.oauthClients.insert(oauthClient({ account, name }))
  for (const name of ['steam TEA bot', 'cron']) await keepToken(['AI Gateway Run'], { name })
  for (const id of ['team', 'shop']) await kept.gateways.insert(gateway({ account, id }))
  given.configs.push(zoneWith({ name: 'tea.example' }), zoneWith({ name: 'coffee.example' }))
  await addPerson('Administrator', { email: 'stearn@example.com', firstName: 'D', lastName: 'T' })
  await addPerson('Administrator', { email: 'grace@example.com', firstName: 'Teacher', lastName: 'G' })
  const search = (q: string, by = site.visitor) => by.get(`${site.base}/find?${new URLSearchParams({ q })}`)
  return { ...site, search }
}

test('a word finds what has it in its name, of every kind, whatever its case', async t => {
  const { search, base } = await open(t)
  const { text, body } = await search(' TEA ')
  assert.match(
    text,
    /OAuth clients Tea Ledger API tokens steam TEA bot active AI gateways team Zones tea\.example .* Members grace@example\.com stearn@example\.com/,
  )
  assert.doesNotMatch(text, /Coffee|cron|shop|coffee/)
  assert.match(body, new RegExp(`href="${base}/gateways/team"`))
  assert.match((await search('nowhere')).text, /Nothing found Nothing that you may see here has nowhere/)
  assert.match((await search('')).text, /What are you looking for\?/)
  const unsafe = await search(hostile)
  assert.equal(unsafe.status, 200)
  assert.doesNotMatch(unsafe.body, /<img/)
})

test('search finds nothing that the roles of the user do not show, or that another account has', async t => {
  const { search, signIn, addPerson, kept } = await open(t)
  await kept.accounts.insert({ ...(await kept.accounts.list())[0]!, id: 'b'.repeat(32) })
  await kept.oauthClients.insert(oauthClient({ account: 'b'.repeat(32), name: 'Tea of others' }))
  const writer = await signIn(await addPerson('OAuth Client Write'))
  const { text } = await search('tea', writer)
  assert.match(text, /OAuth clients Tea Ledger/)
  assert.doesNotMatch(text, /others|API tokens steam|team|tea\.example|stearn/)
  const runner = await signIn(await addPerson('AI Gateway Admin'))
  assert.match((await search('tea', runner)).text, /AI gateways team/)
  assert.doesNotMatch((await search('tea', runner)).text, /Ledger/)
})

test('what cannot be searched for now is not said to be missing', async t => {
  const { search, kept } = await open(t)
  t.mock.method(kept.tokens, 'walk', () => {
    throw new StoreUnreachable()
  })
  const { status, text } = await search('tea')
  assert.equal(status, 503)
  assert.doesNotMatch(text, /Nothing found|Ledger/)
})

test('many are cut, with the way to all of them', async t => {
  const { search, kept, account, base } = await open(t)
  for (let i = 0; i < 9; i++) await kept.oauthClients.insert(oauthClient({ account, name: `Mug ${i}` }))
  const { text, body } = await search('mug')
  assert.equal(text.match(/Mug \d/g)!.length, 5)
  assert.match(text, /4 more/)
  assert.match(body, new RegExp(`href="${base}/oauth-clients\\?name=mug"`))
})

test('among 10,000 clients a search takes less than 100 ms of CPU time', async t => {
  const { search, kept, account } = await open(t)
  for (let made = 0; made < 10_000; made += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        kept.oauthClients.insert(
          oauthClient({ account, id: randomBytes(16).toString('hex'), name: `App ${made + i}` }),
        ),
      ),
    )
  const times: number[] = []
  for (let i = 0; i < 9; i++) {
    const before = cpuTime()
    assert.match((await search(`pp ${9000 + i}`)).text, new RegExp(`App ${9000 + i}`))
    times.push(cpuTime() - before)
  }
  const [, , , , median] = times.toSorted((a, b) => a - b)
  assert.ok(median! < 100, `${Math.round(median!)} ms`)
})

/** Returns that of this thread so far, in ms: it does not count what other processes of the machine take. */
function cpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
