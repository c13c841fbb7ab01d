import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type NameAnswer, NameLookup } from '../../../src/edge/resolver/name-lookup.ts'
import type { Failure } from '../../../src/errors/catalogue/origin-failure.ts'
import { ManualClock } from '../../help/clock.ts'
import { type DnsServer, startDns } from '../../help/dns.ts'
import { turnsUntil } from '../../help/until.ts'

async function start(t: TestContext): Promise<{ dns: DnsServer; lookup: NameLookup }> {
  const dns = await startDns(t)
  const lookup = new NameLookup({ servers: [dns.address] })
  t.after(() => lookup.close())
  return { dns, lookup }
}

/** Tells the addresses and their TTL, or the code of the failure. */
async function told(lookup: NameLookup, name: string): Promise<unknown> {
  const answer = await lookup.lookUp(name)
  return 'addresses' in answer ? [...answer.addresses, await answer.ttl()] : answer.cause.code
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

test('concurrent lookups of a name share one result', async t => {
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

test('closing ends all lookups', async t => {
  const { dns, lookup } = await start(t)
  dns.fail('silent.test', 'silence')
  const answer = told(lookup, 'silent.test')
  await dns.asked('silent.test', 2)
  lookup.close()
  assert.equal(await answer, 'ECANCELLED')
})

test('without servers the system resolver is used, hosts file included', async t => {
  const lookup = new NameLookup()
  t.after(() => lookup.close())
  const answer = await lookup.lookUp('localhost')
  assert.ok('addresses' in answer)
  assert.ok(answer.addresses.includes('127.0.0.1') || answer.addresses.includes('::1'))
  assert.equal(
    await told(lookup, 'origin.invalid').then(code => /^(ENOTFOUND|EAI_AGAIN)$/.test(String(code))),
    true,
  )
})

test('few queries are under way at a time, on few sockets, and all get a reply', async t => {
  const { dns, lookup } = await start(t)
  const names = Array.from({ length: 200 }, (_, i) => `n${i}.test`)
  const release = names.map(name => {
    dns.addresses(name, ['192.0.2.1'])
    return dns.hold(name)
  })
  const answers = Promise.all(names.map(name => told(lookup, name)))
  await turnsUntil(() => dns.queries.length >= 64)
  assert.equal(new Set(dns.queries.map(({ name }) => name)).size, 32)
  for (const open of release) open()
  assert.deepEqual([...new Set((await answers).map(String))], ['192.0.2.1,60'])
  assert.ok(new Set(dns.queries.map(({ port }) => port)).size < 20)
})

function codeOf(answer: NameAnswer | Failure): string | undefined {
  assert.ok(!('addresses' in answer))
  return answer.cause.code
}

/** Looks names up of a system that is steered: dead names do not answer until they are told to fail. */
function steered() {
  const asked: string[] = []
  const dead: (() => void)[] = []
  const clock = new ManualClock()
  const system = (name: string) => {
    asked.push(name)
    if (!name.startsWith('dead')) return Promise.resolve(['192.0.2.1'])
    const { promise, reject } = Promise.withResolvers<readonly string[]>()
    dead.push(() => reject({ code: 'EAI_AGAIN' }))
    return promise
  }
  /** Fails what is asked, and what is asked thereafter, until all have failed. */
  const failAll = async (answers: Promise<unknown>) => {
    let isOver = false
    void answers.then(() => (isOver = true))
    for (; !isOver; await new Promise(setImmediate)) for (const fail of dead.splice(0)) fail()
  }
  return { asked, clock, failAll, lookup: new NameLookup({ system, clock }) }
}

test('names that failed go one at a time, so that others do not wait for them', async () => {
  const { asked, clock, failAll, lookup } = steered()
  const deadNames = Array.from({ length: 40 }, (_, i) => `dead${i}.test`)
  await failAll(Promise.all(deadNames.map(name => lookup.lookUp(name))))
  clock.advance(1_000)
  asked.length = 0
  const again = Promise.all(deadNames.map(name => lookup.lookUp(name)))
  const answers = await Promise.all(Array.from({ length: 9 }, (_, i) => lookup.lookUp(`good${i}.test`)))
  assert.ok(answers.every(answer => 'addresses' in answer))
  assert.equal(asked.filter(name => name.startsWith('dead')).length, 1)
  await failAll(again)
  assert.equal(asked.length, 49)
})

test('the system looks up two names at a time, in order, but names that were found before come first', async () => {
  const { asked, failAll, lookup } = steered()
  await lookup.lookUp('good.test')
  asked.length = 0
  const names = Array.from({ length: 9 }, (_, i) => `dead${i}.test`)
  const answers = Promise.all([...names, 'new.test', 'good.test'].map(name => lookup.lookUp(name)))
  assert.deepEqual(asked, names.slice(0, 2))
  await failAll(answers)
  assert.deepEqual(asked, [...names.slice(0, 2), 'good.test', ...names.slice(2), 'new.test'])
})

test('a name that the system has not found is not looked up again for a second', async () => {
  const { asked, clock, failAll, lookup } = steered()
  const ask = async () => {
    const answer = lookup.lookUp('dead.test')
    await failAll(answer)
    return codeOf(await answer)
  }
  // For want of an answer it is asked once more.
  assert.equal(await ask(), 'EAI_AGAIN')
  assert.equal(await ask(), 'EAI_AGAIN')
  assert.equal(asked.length, 2)
  for (let i = 3; i < 6; i++) {
    clock.advance(999)
    assert.equal(await ask(), 'EAI_AGAIN')
    assert.equal(asked.length, i - 1)
    clock.advance(1)
    await ask()
    assert.equal(asked.length, i)
  }
})

test('the last few thousand looked-up names are remembered', async () => {
  const asked: string[] = []
  const system = (name: string) => {
    asked.push(name)
    return name === 'gone.test' ? Promise.reject({ code: 'ENOTFOUND' }) : Promise.resolve(['192.0.2.1'])
  }
  const lookup = new NameLookup({ system, clock: new ManualClock() })
  await lookup.lookUp('gone.test')
  for (let i = 0; i < 4_095; i++) await lookup.lookUp(`n${i}.test`)
  await lookup.lookUp('gone.test')
  assert.equal(asked.filter(name => name === 'gone.test').length, 1)
  await lookup.lookUp('n4095.test')
  await lookup.lookUp('gone.test')
  assert.equal(asked.filter(name => name === 'gone.test').length, 2)
})

test('a missing name is not looked up again for a second', async () => {
  const clock = new ManualClock()
  let asked = 0
  const system = () => {
    asked++
    return Promise.reject({ code: 'ENOTFOUND' })
  }
  const lookup = new NameLookup({ system, clock })
  for (let i = 0; i < 3; i++) assert.equal(codeOf(await lookup.lookUp('gone.test')), 'ENOTFOUND')
  assert.equal(asked, 1)
  clock.advance(1_000)
  await lookup.lookUp('gone.test')
  assert.equal(asked, 2)
})
