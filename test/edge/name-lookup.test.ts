import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NameLookup } from '../../src/edge/name-lookup.ts'
import { type DnsServer, startDns } from '../help/dns.ts'

async function start(t: TestContext): Promise<{ dns: DnsServer; lookup: NameLookup }> {
  const dns = await startDns(t)
  const lookup = new NameLookup({ servers: [dns.address] })
  t.after(() => lookup.close())
  return { dns, lookup }
}

/** Tells the addresses and their TTL, or the code of the failure. */
async function told(lookup: NameLookup, name: string): Promise<unknown> {
  const answer = await lookup.ask(name)
  return 'addresses' in answer ? [...answer.addresses, await answer.ttl] : answer.code
}

test('the addresses of both families are found, with the shortest TTL', async t => {
  const { dns, lookup } = await start(t)
  dns.addresses('both.test', ['192.0.2.1', '192.0.2.2', '2001:db8::1'], 7)
  assert.deepEqual(await told(lookup, 'both.test'), ['192.0.2.1', '192.0.2.2', '2001:db8::1', 7])
  dns.addresses('six.test', ['2001:db8::2'])
  assert.deepEqual(await told(lookup, 'six.test'), ['2001:db8::2', 60])
  dns.cname('alias.test', 'six.test')
  assert.deepEqual(await told(lookup, 'alias.test'), ['2001:db8::2', 60])
})

test('a name without addresses fails with the code that DNS gives', async t => {
  const { dns, lookup } = await start(t)
  dns.fail('gone.test', 'no_such_name')
  dns.fail('broken.test', 'server_failure')
  dns.fail('refused.test', 'refused')
  dns.addresses('empty.test', [])
  dns.cname('dangling.test', 'nowhere.test')
  const codes = await Promise.all(
    ['gone', 'broken', 'refused', 'empty', 'dangling'].map(name => told(lookup, `${name}.test`)),
  )
  assert.deepEqual(codes, ['ENOTFOUND', 'ESERVFAIL', 'EREFUSED', 'ENODATA', 'ENODATA'])
})

test('who asks while a name is looked up gets the same answer', async t => {
  const { dns, lookup } = await start(t)
  dns.addresses('once.test', ['192.0.2.1'])
  const release = dns.hold('once.test')
  const answers = Promise.all(Array.from({ length: 20 }, () => told(lookup, 'once.test')))
  await dns.asked('once.test', 2)
  release()
  assert.deepEqual([...new Set((await answers).map(String))], ['192.0.2.1,60'])
  assert.equal(dns.count('once.test', 1), 1)
  await told(lookup, 'once.test')
  assert.equal(dns.count('once.test', 1), 2)
})

test('what is asked ends when the lookup is closed', async t => {
  const { dns, lookup } = await start(t)
  dns.fail('silent.test', 'silence')
  const answer = told(lookup, 'silent.test')
  await dns.asked('silent.test', 2)
  lookup.close()
  assert.equal(await answer, 'ECANCELLED')
})

test('without servers the system answers, from its hosts file too', async t => {
  const lookup = new NameLookup()
  t.after(() => lookup.close())
  const answer = await lookup.ask('localhost')
  assert.ok('addresses' in answer)
  assert.ok(answer.addresses.includes('127.0.0.1') || answer.addresses.includes('::1'))
  assert.equal(
    await told(lookup, 'origin.invalid').then(code => /^(ENOTFOUND|EAI_AGAIN)$/.test(String(code))),
    true,
  )
})
