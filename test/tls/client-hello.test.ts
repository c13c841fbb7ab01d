import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import fc from 'fast-check'
import { type ClientHello, readClientHello } from '../../src/tls/client-hello.ts'

/** Records the hello of OpenSSL. */
async function helloOf(t: TestContext, options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ host: '127.0.0.1', port, ...options })
  client.on('error', () => {})
  const [socket] = await once(server, 'connection')
  t.after(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes
}

/** Writes a hello with these extensions, as one record; `null` for a hello without any. */
function hello(extensions: Buffer | null, { random = 7, suites = 2, session = 0 } = {}): Buffer {
  const vector = (bytes: Buffer, size: 1 | 2) => {
    const length = Buffer.alloc(size)
    length.writeUIntBE(bytes.length, 0, size)
    return Buffer.concat([length, bytes])
  }
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, random),
    vector(Buffer.alloc(session), 1),
    vector(Buffer.alloc(suites), 2),
    vector(Buffer.alloc(1), 1),
    extensions === null ? Buffer.alloc(0) : vector(extensions, 2),
  ])
  const header = Buffer.from([1, 0, body.length >> 8, body.length & 255])
  return record(Buffer.concat([header, body]))
}

function record(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22, 3, 1, content.length >> 8, content.length & 255]), content])
}

function serverName(name: string | Buffer, type = 0): Buffer {
  const bytes = Buffer.from(name)
  const { length } = bytes
  const start = Buffer.from([0, 0, 0, length + 5, 0, length + 3, type, length >> 8, length & 255])
  return Buffer.concat([start, bytes])
}

/** Reads a hello that is to have no faults. */
function nameIn(bytes: Buffer): string | null {
  const read = readClientHello(bytes)
  assert.ok(read !== null && typeof read === 'object', String(read))
  return read.serverName
}

test('the name in the hello of a real client is read, in lower case, and its absence', async t => {
  assert.equal(nameIn(await helloOf(t, { servername: 'Shop.Example' })), 'shop.example')
  assert.equal(nameIn(await helloOf(t, {})), null)
  const old = await helloOf(t, { servername: 'a.example', maxVersion: 'TLSv1.2' })
  assert.equal(nameIn(old), 'a.example')
})

test('an authority that validates a host is known by its only protocol', async t => {
  const servername = 'shop.example'
  for (const [protocols, isValidation] of [
    [['acme-tls/1'], true],
    [['acme-tls/1', 'http/1.1'], false],
    [['http/1.1', 'acme-tls/1'], false],
    [['acme-tls/2'], false],
    [['h2', 'http/1.1'], false],
  ] as const) {
    const bytes = await helloOf(t, { servername, ALPNProtocols: [...protocols] })
    const read = readClientHello(bytes) as ClientHello
    assert.deepEqual([read.serverName, read.isValidation, read.ticket], [servername, isValidation, null])
  }
  const only = '\x00\x0b\x0aacme-tls/1'
  for (const [list, isValidation] of [
    [only, true],
    [`${only}\x00`, false],
  ] as const) {
    const extension = Buffer.concat([Buffer.from([0, 16, 0, list.length]), Buffer.from(list)])
    assert.equal((readClientHello(hello(extension)) as ClientHello).isValidation, isValidation)
  }
  assert.equal((readClientHello(hello(null)) as ClientHello).isValidation, false)
})

test('what a client offers is read as OpenSSL writes it', async t => {
  const { offer } = readClientHello(
    await helloOf(t, {
      ciphers: 'TLS_AES_256_GCM_SHA384:ECDHE-RSA-AES128-GCM-SHA256',
      ecdhCurve: 'X25519:P-384',
    }),
  ) as ClientHello
  assert.deepEqual(
    [offer.suites.slice(0, 2), offer.groups],
    [
      [0x1302, 0xc02f],
      [29, 24],
    ],
  )
  assert.deepEqual([offer.versions, offer.isBound], [[0x0304, 0x0303], true])
  const old = readClientHello(await helloOf(t, { maxVersion: 'TLSv1.2' })) as ClientHello
  assert.deepEqual([old.offer.versions, old.offer.isBound], [[], true])
  const bare = (readClientHello(hello(null)) as ClientHello).offer
  assert.deepEqual([bare.suites, bare.groups, bare.versions, bare.isBound], [[0], [], [], false])
  // Extensions 10 and 43 without content, and one that nobody knows.
  const empty = hello(Buffer.from([0, 10, 0, 0, 0, 43, 0, 0, 99, 99, 0, 0]))
  const { groups, versions, isBound } = (readClientHello(empty) as ClientHello).offer
  assert.deepEqual([groups, versions, isBound], [[], [], false])
})

test('the ticket of a session is read as the server has sealed it', async t => {
  const ticketIn = (bytes: Buffer) => {
    const read = readClientHello(bytes)
    return read !== null && typeof read === 'object' ? read.ticket : undefined
  }
  assert.equal(ticketIn(await helloOf(t, {})), null)
  const ticket = Buffer.alloc(200, 'sealed')
  const lengths = (...sizes: number[]) => Buffer.from(sizes.flatMap(size => [size >> 8, size & 255]))
  const before13 = Buffer.concat([lengths(35, ticket.length), ticket])
  const from13 = Buffer.concat([
    lengths(41, ticket.length + 8 + 35, ticket.length + 6, ticket.length),
    ticket,
    Buffer.from([0, 0, 0, 9]),
    lengths(33),
    Buffer.alloc(33, 32),
  ])
  assert.deepEqual(ticketIn(hello(before13)), ticket)
  assert.deepEqual(ticketIn(hello(Buffer.concat([serverName('a.example'), from13]))), ticket)
  const another = Buffer.concat([lengths(35, 3), Buffer.from('old')])
  assert.deepEqual(ticketIn(hello(Buffer.concat([from13, another]))), ticket)
  assert.equal(ticketIn(hello(lengths(35, 0))), null)
  for (const broken of [lengths(41, 0), lengths(41, 2, 9), lengths(41, 4, 2, 9)])
    assert.equal(ticketIn(hello(broken)), null)
})

test('a hello in pieces is read once it is whole, in any number of records up to sixteen', async t => {
  const whole = await helloOf(t, { servername: 'shop.example' })
  for (let end = 0; end < whole.length; end++) assert.equal(readClientHello(whole.subarray(0, end)), null)
  const message = whole.subarray(5)
  const inRecords = (count: number) => {
    const size = Math.ceil(message.length / count)
    const parts = Array.from({ length: count }, (_, i) => message.subarray(i * size, (i + 1) * size))
    return Buffer.concat(parts.map(record))
  }
  for (const count of [2, 3]) assert.equal(nameIn(inRecords(count)), 'shop.example')
  const behindShort = (count: number) => {
    const short = Array.from({ length: count }, (_, i) => record(message.subarray(i, i + 1)))
    return Buffer.concat([...short, record(message.subarray(count))])
  }
  assert.equal(nameIn(behindShort(15)), 'shop.example')
  assert.equal(readClientHello(behindShort(16)), 'client_hello')
  for (const [at, value] of [
    [6, 23],
    [7, 2],
  ] as const)
    assert.equal(readClientHello(behindShort(1).fill(value, at, at + 1)), 'client_hello')
})

test('bytes that are not TLS are recognized at once', () => {
  for (const text of ['G', 'GET / HTTP/1.1\r\n', '\x80\x2e\x01\x03\x01', '\x16\x02', 'SSH-2.0-x'])
    assert.equal(readClientHello(Buffer.from(text, 'latin1')), 'not_tls', JSON.stringify(text))
  assert.equal(readClientHello(Buffer.from([22, 3, 1, 0, 0])), 'client_hello')
  assert.equal(readClientHello(record(Buffer.from([2]))), 'client_hello')
  assert.equal(readClientHello(hello(null).fill(2, 5, 6)), 'client_hello')
})

test('a hello that could be read in two ways is refused', () => {
  const name = serverName('a.example')
  assert.equal(nameIn(hello(name)), 'a.example')
  assert.equal(nameIn(hello(null)), null)
  assert.equal(nameIn(hello(Buffer.alloc(0))), null)
  const flawed = {
    'two names': Buffer.concat([name, serverName('b.example')]),
    'another type of name': serverName('a.example', 1),
    'no name': serverName(''),
    'a name with a space': serverName('a example'),
    'a name with a zero': serverName('a\0b'),
    'a name beyond ASCII': serverName(Buffer.from('ä.example')),
    'two names in a list': Buffer.from([0, 0, 0, 10, 0, 8, 0, 0, 1, 0x61, 0, 0, 1, 0x62]),
    'bytes behind a list': Buffer.from([0, 0, 0, 7, 0, 4, 0, 0, 1, 0x61, 0]),
    'a list that is longer than its extension': Buffer.from([0, 0, 0, 6, 0, 5, 0, 0, 1, 0x61]),
    'a name that is longer than its list': Buffer.from([0, 0, 0, 6, 0, 4, 0, 0, 2, 0x61]),
    'an extension that is longer than the hello': Buffer.from([0, 5, 0, 9, 1]),
    'half an extension': Buffer.from([0]),
  }
  for (const [what, extensions] of Object.entries(flawed))
    assert.equal(readClientHello(hello(extensions)), 'client_hello', what)
  const short = hello(null)
  short[short.length - 2] = 9
  assert.equal(readClientHello(short), 'client_hello')
  const behind = hello(name)
  behind.writeUInt16BE(behind.readUInt16BE(3) + 1, 3)
  behind.writeUIntBE(behind.readUIntBE(6, 3) + 1, 6, 3)
  assert.equal(readClientHello(Buffer.concat([behind, Buffer.alloc(1)])), 'client_hello')
})

test('a hello of more than 16 KiB is refused, as soon as it says so', () => {
  assert.equal(readClientHello(Buffer.from([22, 3, 1, 64, 0, 1, 1, 0, 0])), 'client_hello')
  const endless = Buffer.concat([Buffer.from([22, 3, 1, 64, 0, 1, 0, 63, 255]), Buffer.alloc(16_379)])
  assert.equal(readClientHello(endless.subarray(0, 16_384)), null)
  assert.equal(readClientHello(endless.subarray(0, 16_385)), 'client_hello')
  assert.equal(readClientHello(Buffer.from([22, 3, 1, 64, 0, 1, 0, 64, 0])), null)
})

test('no bytes make the reader throw, or read beyond them', () => {
  const whole = hello(serverName('a.example'), { session: 32, suites: 30 })
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 }),
      (noise, changes) => {
        readClientHello(Buffer.from(noise))
        readClientHello(record(Buffer.from([1, 0, 0, noise.length, ...noise])))
        const changed = Buffer.from(whole)
        for (const [at, value] of changes) changed[at] = value
        const read = readClientHello(changed)
        if (read !== null && typeof read === 'object' && read.serverName !== null)
          assert.match(read.serverName, /^[!-~]+$/)
      },
    ),
    { numRuns: 2_000 },
  )
})
