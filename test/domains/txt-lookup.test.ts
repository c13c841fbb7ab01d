import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { TxtLookup } from '../../src/domains/txt-lookup.ts'
import { type DnsServer, type Failure, startDns, type Txt } from '../help/dns.ts'
import { deadOrigin } from '../help/origin.ts'

const host = 'app.svc.test'
const text = `svc_oauth_client_publisher=${'0123456789abcdef'.repeat(2)}`
const now = Date.UTC(2026, 0, 1)

async function start(
  t: TestContext,
  timeout = 5_000,
): Promise<{ readonly dns: DnsServer; readonly lookup: TxtLookup }> {
  const dns = await startDns(t)
  const lookup = new TxtLookup({ resolvers: [dns.address], timeout })
  t.after(() => lookup.close())
  return { dns, lookup }
}

test('a record is found among others, whole or in chunks, and only to the letter', async t => {
  const { dns, lookup } = await start(t)
  const cases: readonly [outcome: string, ...records: Txt[]][] = [
    ['found', text],
    ['found', [text.slice(0, 7), '', text.slice(7)]],
    ['found', [...text]],
    ['found', 'v=spf1 -all', 'svc_oauth_client_publisher=of another client', text],
    ['found', text, text],
    ['no_match', `"${text}"`],
    ['no_match', text.toUpperCase()],
    ['no_match', ` ${text}`],
    ['no_match', `${text} `],
    ['no_match', `${text}\0`],
    ['no_match', text.slice(0, -1)],
    ['no_match', text.slice(0, 20), text.slice(20)],
    ['no_match', ''],
    ['no_match', ['']],
  ]
  for (const [outcome, ...records] of cases) {
    dns.txt(host, ...records)
    assert.equal((await lookup.ask(host, text, now)).outcome, outcome, JSON.stringify(records))
  }
})

test('a result has its time and the records that were found', async t => {
  const { dns, lookup } = await start(t)
  dns.txt(host, 'v=spf1 -all', ['one ', 'two'])
  assert.deepEqual(await lookup.ask(host, text, now), {
    at: now,
    outcome: 'no_match',
    records: ['v=spf1 -all', 'one two'],
  })
})

test('names lead to the record, and to nothing where they dangle', async t => {
  const { dns, lookup } = await start(t)
  dns.cname(host, 'one.svc.test')
  dns.cname('one.svc.test', 'two.svc.test')
  assert.equal((await lookup.ask(host, text, now)).outcome, 'no_records')
  dns.txt('two.svc.test', text)
  assert.equal((await lookup.ask(host, text, now)).outcome, 'found')
  dns.fail('two.svc.test', 'no_such_name')
  assert.equal((await lookup.ask(host, text, now)).outcome, 'no_such_name')
})

test('a name without TXT records is no name that is not there', async t => {
  const { dns, lookup } = await start(t)
  dns.txt(host)
  assert.deepEqual(await lookup.ask(host, text, now), { at: now, outcome: 'no_records', records: [] })
  assert.deepEqual(await lookup.ask('other.svc.test', text, now), {
    at: now,
    outcome: 'no_such_name',
    records: [],
  })
})

test('each failure of a server has its outcome', async t => {
  const { dns, lookup } = await start(t, 600)
  const outcomes: Readonly<Record<Failure, string>> = {
    server_failure: 'server_failure',
    refused: 'refused',
    no_such_name: 'no_such_name',
    silence: 'timeout',
  }
  for (const [failure, outcome] of Object.entries(outcomes)) {
    dns.fail(host, failure as Failure)
    assert.equal((await lookup.ask(host, text, now)).outcome, outcome)
  }
})

test('a response that does not fit in a datagram is fetched by TCP', async t => {
  const { dns, lookup } = await start(t)
  dns.txt(host, ...Array.from({ length: 40 }, (_, i) => `${i} `.repeat(80)), text)
  dns.truncate(host)
  const { outcome, records } = await lookup.ask(host, text, now)
  assert.equal(outcome, 'found')
  assert.deepEqual(
    dns.queries.map(({ transport }) => transport),
    ['udp', 'tcp'],
  )
  assert.equal(records.length, 10)
  assert.equal(records[0], text)
})

test('long records are truncated, and unprintable characters removed', async t => {
  const { dns, lookup } = await start(t)
  dns.txt(host, 'x'.repeat(1_000), 'a\0b\nc\x1b[31m\x7f\x85\xad\xe9')
  const { records } = await lookup.ask(host, text, now)
  assert.deepEqual(records, ['x'.repeat(255), 'a\ufffdb\ufffdc\ufffd[31m\ufffd\ufffd\ufffd\xe9'])
})

test('a server that sends nonsense, or is unreachable, causes no exception', async t => {
  const server = createSocket('udp4')
  t.after(() => server.close())
  server.on('message', (_, { port }) => server.send('nonsense', port, '127.0.0.1'))
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  for (const port of [server.address().port, deadOrigin().port]) {
    const resolver = `127.0.0.1:${port}`
    const lookup = new TxtLookup({ resolvers: [resolver], timeout: 600 })
    const { outcome } = await lookup.ask(host, text, now)
    assert.match(outcome, /^(error|timeout)$/, resolver)
  }
})

/** Starts a server whose replies a test writes itself: to each question by UDP, it sends all of these. */
async function startRaw(
  t: TestContext,
  replies: (question: Buffer) => readonly (Buffer | Promise<Buffer>)[],
) {
  const server = createSocket('udp4')
  t.after(() => server.close())
  const questions: Buffer[] = []
  server.on('message', async (question, { port }) => {
    questions.push(question)
    for (const reply of replies(question)) server.send(await reply, port, '127.0.0.1')
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, questions, resolver: `127.0.0.1:${server.address().port}` }
}

const wireHost = Buffer.from(`\x03app\x03svc\x04test\0`, 'latin1')

/** Writes a good reply: one text of an owner, which is a pointer to the question by default. */
function replyTo(question: Buffer, value = text, owner: Buffer = Buffer.of(0xc0, 12)): Buffer {
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(0x81_80, 2)
  head.writeUInt16BE(1, 6)
  head.writeUInt16BE(0, 10)
  const fixed = Buffer.from('00100001000000000000', 'hex')
  fixed.writeUInt16BE(value.length + 1, 8)
  const asked = question.subarray(12, 12 + wireHost.length + 4)
  return Buffer.concat([head, asked, owner, fixed, Buffer.of(value.length), Buffer.from(value, 'latin1')])
}

test('a record of another name in the reply proves nothing, unless names there lead to it', async t => {
  const evil = Buffer.from('\x04evil\x04test\0', 'latin1')
  const { resolver } = await startRaw(t, question => [replyTo(question, text, evil)])
  const lookup = new TxtLookup({ resolvers: [resolver], timeout: 2_000 })
  t.after(() => lookup.close())
  assert.deepEqual(await lookup.ask(host, text, now), { at: now, outcome: 'no_records', records: [] })
})

test('what is sent before the reply, and is none, is passed over', async t => {
  const stranger = createSocket('udp4')
  t.after(() => stranger.close())
  const garbage = (question: Buffer): readonly Buffer[] => {
    const good = replyTo(question, 'svc_oauth_client_publisher=forged')
    const [otherId, otherName, query] = [Buffer.from(good), Buffer.from(good), Buffer.from(good)]
    otherId.writeUInt16BE((question.readUInt16BE(0) + 1) & 0xff_ff, 0)
    otherName[13] = 0x78
    query.writeUInt16BE(0x01_00, 2)
    const cut = Array.from({ length: good.length }, (_, length) => good.subarray(0, length))
    return [
      Buffer.from('nonsense'),
      Buffer.alloc(0),
      Buffer.alloc(1_400, 0xff),
      otherId,
      otherName,
      query,
      ...cut,
    ]
  }
  const { server, questions, resolver } = await startRaw(t, question => [
    ...garbage(question),
    replyTo(question),
  ])
  // From another port, and as good as it gets.
  server.prependListener('message', (question, { port }) => {
    stranger.send(replyTo(question, 'svc_oauth_client_publisher=forged'), port, '127.0.0.1')
  })
  const lookup = new TxtLookup({ resolvers: [resolver], timeout: 5_000 })
  t.after(() => lookup.close())
  for (let round = 0; round < 5; round++)
    assert.deepEqual(await lookup.ask(host, text, now), { at: now, outcome: 'found', records: [text] })
  assert.equal(questions.length, 5)
})

test('garbage alone ends with the time that a lookup has, and not before', async t => {
  const { questions, resolver } = await startRaw(t, () => [Buffer.from('nonsense')])
  const lookup = new TxtLookup({ resolvers: [resolver], timeout: 400 })
  const begin = performance.now()
  assert.equal((await lookup.ask(host, text, now)).outcome, 'timeout')
  assert.ok(performance.now() - begin >= 390)
  assert.equal(questions.length, 2)
})

test('a server that does not know the extension of DNS is asked without it', async t => {
  const { questions, resolver } = await startRaw(t, question => {
    if (question.readUInt16BE(10) === 0) return [replyTo(question)]
    const refusal = Buffer.from(question.subarray(0, 12)).fill(0, 4)
    refusal.writeUInt16BE(0x81_81, 2)
    return [refusal]
  })
  const lookup = new TxtLookup({ resolvers: [resolver], timeout: 2_000 })
  assert.equal((await lookup.ask(host, text, now)).outcome, 'found')
  assert.deepEqual(
    questions.map(question => question.readUInt16BE(10)),
    [1, 0],
  )
})

test('by TCP too, what is no reply is passed over, in whichever pieces it comes, and a connection that ends is an error', async t => {
  const framed = (message: Buffer) =>
    Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message])
  for (const isCut of [false, true]) {
    const connections: string[] = []
    const tcp = createServer(socket => {
      let unread = Buffer.alloc(0)
      socket
        .on('error', () => {})
        .on('data', (chunk: Buffer) => {
          unread = Buffer.concat([unread, chunk])
          if (unread.length < 2 || unread.length < 2 + unread.readUInt16BE()) return
          const question = unread.subarray(2)
          connections.push(question.toString('hex'))
          const other = replyTo(question, 'svc_oauth_client_publisher=forged')
          other.writeUInt16BE((other.readUInt16BE(0) + 1) & 0xff_ff, 0)
          const all = Buffer.concat([
            framed(Buffer.from('nonsense')),
            framed(Buffer.alloc(0)),
            framed(other),
            framed(replyTo(question)),
          ])
          if (isCut) return void socket.end(all.subarray(0, -1))
          socket.setNoDelay(true)
          for (const byte of all) socket.write(Buffer.of(byte))
        })
    }).listen(0, '127.0.0.1')
    t.after(() => tcp.close())
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    t.after(() => udp.close())
    udp.on('message', (question, peer) => {
      const truncated = replyTo(question).subarray(0, 12 + wireHost.length + 4)
      truncated.writeUInt16BE(0x83_80, 2)
      udp.send(truncated, peer.port, '127.0.0.1')
    })
    udp.bind(port, '127.0.0.1')
    await once(udp, 'listening')
    const lookup = new TxtLookup({ resolvers: [`127.0.0.1:${port}`], timeout: 5_000 })
    assert.equal((await lookup.ask(host, text, now)).outcome, isCut ? 'error' : 'found')
    assert.equal(connections.length, 1)
  }
})

test('the next resolver is queried when one fails or does not respond', async t => {
  const [silent, failing, good] = await Promise.all([startDns(t), startDns(t), startDns(t)])
  silent.fail(host, 'silence')
  failing.fail(host, 'server_failure')
  good.txt(host, text)
  const resolvers = [silent, failing, good].map(({ address }) => address)
  const lookup = new TxtLookup({ resolvers, timeout: 3_000 })
  t.after(() => lookup.close())
  assert.equal((await lookup.ask(host, text, now)).outcome, 'found')
})

test('there is a result in time, however many lookups wait', async t => {
  const { dns, lookup } = await start(t, 500)
  dns.fail(host, 'silence')
  const begin = performance.now()
  const answers = await Promise.all(Array.from({ length: 40 }, () => lookup.ask(host, text, now)))
  // One after the other they take 20 s.
  assert.ok(performance.now() - begin < 10_000)
  assert.ok(answers.every(({ outcome }) => outcome === 'timeout'))
  dns.txt(host, text)
  assert.equal((await lookup.ask(host, text, now)).outcome, 'found')
})

test('at most 16 lookups run at once, and all get their turn', async t => {
  const { dns, lookup } = await start(t, 20_000)
  const names = Array.from({ length: 100 }, (_, i) => `h${i}.svc.test`)
  for (const name of names) dns.txt(name, text)
  const releases = names.map(name => dns.hold(name))
  const answers = Promise.all(names.map(name => lookup.ask(name, text, now)))
  await Promise.all(names.slice(0, 16).map(name => dns.asked(name)))
  // Whatever else was asked has come by then.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  assert.equal(dns.queries.length, 16)
  for (const release of releases) release()
  assert.ok((await answers).every(({ outcome }) => outcome === 'found'))
  assert.equal(dns.queries.length, 100)
})

test('closing ends running and queued lookups, and nothing is queried any more', async t => {
  const { dns, lookup } = await start(t, 60_000)
  dns.fail(host, 'silence')
  const answers = Array.from({ length: 20 }, () => lookup.ask(host, text, now))
  await dns.asked(host, 16)
  lookup.close()
  for (const { outcome } of await Promise.all(answers)) assert.equal(outcome, 'error')
  assert.equal((await lookup.ask(host, text, now)).outcome, 'error')
  assert.equal(dns.count(host), 16)
})

test('a lookup that closing ends is not repeated', async t => {
  const { dns, lookup } = await start(t, 1_000)
  dns.fail(host, 'silence')
  const answer = lookup.ask(host, text, now)
  await dns.asked(host, 1)
  lookup.close()
  await answer
  // The second try would come within half of the time.
  await sleep(800)
  assert.equal(dns.count(host), 1)
})

test('a resolver must be an address', () => {
  assert.throws(() => new TxtLookup({ resolvers: ['dns.svc.test'], timeout: 1 }), {
    code: 'ERR_INVALID_IP_ADDRESS',
  })
})

test('whatever stands in a zone, there is an answer that can be shown', async t => {
  const { dns, lookup } = await start(t)
  const chunk = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map(c => String.fromCharCode(c)),
    maxLength: 40,
  })
  const records = fc.array(fc.array(fc.oneof(chunk, fc.constant(text)), { minLength: 1, maxLength: 4 }), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(records, async records => {
      dns.txt(host, ...records)
      const answer = await lookup.ask(host, text, now)
      const isThere = records.some(chunks => chunks.join('') === text)
      assert.equal(answer.outcome, isThere ? 'found' : records.length > 0 ? 'no_match' : 'no_records')
      assert.ok(answer.records.length <= 10)
      assert.ok(answer.records.every(shown => shown.length <= 255 && !/\p{Cc}/u.test(shown)))
    }),
    { numRuns: 200 },
  )
})
