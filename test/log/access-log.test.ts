import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AccessEntry, AccessLog } from '../../src/log/access-log.ts'

const everything = { '1xx': 1, '2xx': 1, '3xx': 1, '4xx': 1, '5xx': 1 }

const entry: AccessEntry = {
  time: 1_700_000_000_000.25,
  ray: '0123456789abcdef',
  zone: 'shop.example',
  client: '192.0.2.7',
  method: 'GET',
  host: 'shop.example',
  target: '/cart?token=hush',
  version: '1.1',
  status: 200,
  error: null,
  cause: null,
  preview: false,
  bytesIn: 0,
  bytesOut: 244,
  compressed: null,
  duration: 1.23456,
  opening: { resolve: -1, connect: 0.25, handshake: -1 },
  send: -1,
  wait: 0.98765,
  receive: -1,
  origin: '198.51.100.3:9000',
  retries: 0,
  aborted: false,
  tls: null,
  mcp: null,
}

/** Collects what is written to a log; `lines` parses it. */
function collect() {
  const written: string[] = []
  const destination = { write: (line: string) => written.push(line) }
  return { destination, lines: () => written.map(line => JSON.parse(line)) }
}

test('a request is one line of JSON with every fact of the entry and the path without its query', () => {
  const { destination, lines } = collect()
  new AccessLog(destination, { sample: everything }).write(entry)
  assert.deepEqual(lines(), [
    {
      level: 'info',
      time: '2023-11-14T22:13:20.000Z',
      pid: process.pid,
      ray: entry.ray,
      zone: 'shop.example',
      client: '192.0.2.7',
      method: 'GET',
      host: 'shop.example',
      path: '/cart',
      version: '1.1',
      status: 200,
      error: null,
      cause: null,
      preview: false,
      bytes_in: 0,
      bytes_out: 244,
      compression: null,
      duration: 1.235,
      phases: { connect: 0.25, wait: 0.988 },
      origin: '198.51.100.3:9000',
      retries: 0,
      aborted: false,
      tls: null,
      msg: 'request',
    },
  ])
})

test('level and time are a name and ISO 8601, or numbers', () => {
  for (const isNumeric of [false, true]) {
    const { destination, lines } = collect()
    new AccessLog(destination, { sample: everything, numeric: isNumeric }).write(entry)
    const [{ level, time }] = lines()
    assert.deepEqual(
      [level, time],
      isNumeric ? [30, 1_700_000_000_000] : ['info', '2023-11-14T22:13:20.000Z'],
    )
  }
})

test('unlisted members, and targets that are not a path, are not logged', () => {
  const { destination, lines } = collect()
  const log = new AccessLog(destination, { sample: everything })
  log.write({ ...entry, cookie: 'hush', headers: { authorization: 'hush' } } as AccessEntry)
  log.write({ ...entry, target: 'http://user:hush@shop.example/' })
  log.write({ ...entry, target: '/x#hush' })
  const written = lines()
  assert.equal(JSON.stringify(written).includes('hush'), false)
  assert.deepEqual(
    written.map(({ path }) => path),
    ['/cart', null, '/x'],
  )
})

test('terminal control characters are escaped', () => {
  const steering = '\u007f\u009b2J\u0085'
  const escaped = String.raw`\u007f\u009b2J\u0085`
  let text = ''
  const destination = { write: (line: string) => (text += line) }
  new AccessLog(destination, { sample: everything }).write({
    ...entry,
    host: `${steering}.test`,
    target: `/é${steering}`,
  })
  for (const wanted of [`"host":"${escaped}.test"`, `"path":"/é${escaped}"`])
    assert.ok(text.includes(wanted), text)
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
  assert.equal(JSON.parse(text.split('\n')[0]!).path, `/é${steering}`)
})

test('texts are quoted and cut, so that a client can neither forge a line nor flood the log', () => {
  const { destination, lines } = collect()
  const log = new AccessLog(destination, { sample: everything })
  log.write({ ...entry, host: 'a"\n{"level":50}', target: `/${'x'.repeat(10_000)}` })
  const written = lines()
  assert.equal(written.length, 1)
  const { host, path } = written[0] as { host: string; path: string }
  assert.equal(host, 'a"\n{"level":50}')
  assert.equal(path.length, 1024)
})

test('times are rounded to microseconds', () => {
  const time = fc.oneof(
    fc.double({ min: 0, max: 2000, noNaN: true }),
    fc.double({ min: 0, max: 1e9, noNaN: true }),
    fc.integer({ min: 0, max: 1_000_000 }).map(micros => micros / 1000),
  )
  fc.assert(
    fc.property(time, time, (duration, wait) => {
      const { destination, lines } = collect()
      const log = new AccessLog(destination, { sample: everything })
      log.write({ ...entry, duration, opening: null, wait, receive: 0 })
      const { duration: written, phases } = lines()[0]
      const rounded = (ms: number) => Math.round(ms * 1000) / 1000
      assert.deepEqual([written, phases], [rounded(duration), { wait: rounded(wait), receive: 0 }])
    }),
    { numRuns: 2_000 },
  )
})

test('a phase that did not happen is left out', () => {
  const { destination, lines } = collect()
  const log = new AccessLog(destination, { sample: everything })
  const none = { opening: null, send: -1, wait: -1, receive: -1 }
  const opened = { resolve: 1, connect: 2, handshake: 3 }
  const cases: readonly (readonly [Partial<AccessEntry>, object])[] = [
    [none, {}],
    [{ ...none, send: 4 }, { send: 4 }],
    [
      { ...none, wait: 5, receive: 6 },
      { wait: 5, receive: 6 },
    ],
    [
      { opening: opened, send: 4, wait: 5, receive: 6 },
      { ...opened, send: 4, wait: 5, receive: 6 },
    ],
    [
      { ...none, opening: { ...opened, connect: -1 } },
      { resolve: 1, handshake: 3 },
    ],
  ]
  for (const [members] of cases) log.write({ ...entry, ...members })
  const phases = lines().map(line => JSON.stringify(line.phases))
  assert.deepEqual(
    phases,
    cases.map(([, expected]) => JSON.stringify(expected)),
  )
})

test('a line says what its own request was, whatever the one before it was', () => {
  const { destination, lines } = collect()
  const log = new AccessLog(destination, { sample: everything })
  const member = fc.constantFrom('a.test', 'b.test', 'a"b', '')
  const entries = fc.record({
    time: fc.constantFrom(1_700_000_000_000, 1_700_000_000_001, 1_700_000_001_000),
    zone: member,
    client: member,
    method: member,
    host: member,
    version: fc.constantFrom('1.1', '2'),
    target: member.map(text => `/${text}`),
    status: fc.constantFrom(200, 503),
    error: fc.option(fc.constant('origin_down')),
    cause: fc.option(fc.constant('ECONNREFUSED')),
    preview: fc.boolean(),
    bytesIn: fc.constantFrom(0, 7),
    retries: fc.constantFrom(0, 1),
    aborted: fc.boolean(),
    origin: fc.option(member),
  })
  fc.assert(
    fc.property(entries, members => {
      log.write({ ...entry, ...members })
      const written = lines().at(-1)
      const { time, target, bytesIn, ...same } = members
      assert.partialDeepStrictEqual(written, {
        ...same,
        time: new Date(time).toISOString(),
        path: target,
        bytes_in: bytesIn,
      })
    }),
  )
})

test('whatever a client sends, a line is no longer than what a pipe takes in one piece', () => {
  const [unit, most] = [fc.constantFrom('x', '"', '\\', '\x7f', '\x85', 'é', '\xad'), 3_000]
  const target = fc.oneof(
    fc.string({ unit, size: 'max', maxLength: most }),
    unit.map(one => one.repeat(most)),
  )
  fc.assert(
    fc.property(target, target, (path, host) => {
      let line = ''
      const log = new AccessLog({ write: text => (line += text) }, { sample: everything })
      log.write({ ...entry, method: 'X'.repeat(most), target: `/${path}`, host: host.slice(0, 100) })
      assert.ok(Buffer.byteLength(line) <= 4096, String(Buffer.byteLength(line)))
      const written = JSON.parse(line).path as string
      assert.ok(`/${path}`.startsWith(written) && written.length >= Math.min(340, path.length))
    }),
  )
})

test('each status class is sampled by its own share, and a status without a class is always logged', () => {
  const draws = [0.09, 0.1, 0.99]
  const sample = { ...everything, '2xx': 0.1, '4xx': 0 }
  const log = new AccessLog(collect().destination, { sample }, () => draws.shift() ?? 0)
  const statuses = [200, 204, 299, 404, 503, 0, 999]
  assert.deepEqual(
    statuses.filter(status => log.wants(status)),
    [200, 503, 0, 999],
  )
})

test('an entry that is written was sampled before: it is not sampled again', () => {
  const { destination, lines } = collect()
  new AccessLog(destination, { sample: { ...everything, '2xx': 0 } }).write(entry)
  assert.equal(lines().length, 1)
})
