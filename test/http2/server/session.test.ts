// What each frame does to a connection and its streams, case by case of RFC 9113, by raw frames.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { errorCode, flag, frameType, setting } from '../../../src/http2/frames/frames.ts'
import {
  block,
  codeOf,
  data,
  frame,
  framesOf,
  get,
  headers,
  type Pairs,
  Peer,
  ping,
  post,
  preface,
  rstStream,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from '../../help/http2.ts'

const { endStream, endHeaders, padded, priority } = flag
const open = headers(1, post, endHeaders)

/** Frames behind which the connection is over, by the code that it ends with. */
const connectionErrors: Readonly<
  Record<string, readonly [code: keyof typeof errorCode, ...frames: Buffer[]]>
> = {
  '4.1: a frame of more than 16,384 bytes': ['frameSize', open, data(1, Buffer.alloc(16_385))],
  '4.1: the same of a type that nobody knows': ['frameSize', frame(200, 0, 0, Buffer.alloc(16_385))],
  '4.3: a header block that is none': [
    'compression',
    frame(frameType.headers, endHeaders, 1, Buffer.from([0x80])),
  ],
  '4.3: trailers that are none': [
    'compression',
    open,
    frame(frameType.headers, endHeaders | endStream, 1, Buffer.from([0x80])),
  ],
  '4.3: the same behind the end of a request': [
    'compression',
    headers(1),
    frame(frameType.headers, endHeaders | endStream, 1, Buffer.from([0x80])),
  ],
  '4.3: a header block in the middle of which another frame comes': [
    'protocol',
    headers(1, get, endStream),
    ping,
  ],
  '4.3: the same with an unknown frame': ['protocol', headers(1, get, endStream), frame(200, 0, 0)],
  '4.3: another header block in the middle of one': ['protocol', headers(1, get, endStream), headers(3)],
  '4.3: another one of the same stream': ['protocol', headers(1, get, endStream), headers(1)],
  '4.3: DATA of the same stream in the middle of a header block': [
    'protocol',
    headers(1, post, 0),
    data(1, 'x'),
  ],
  '5.1: DATA on an idle stream': ['protocol', data(1, 'x')],
  '5.1: RST_STREAM on an idle stream': ['protocol', rstStream(1)],
  '5.1: WINDOW_UPDATE on an idle stream': ['protocol', windowUpdate(1, 1)],
  '5.1: CONTINUATION on an idle stream': [
    'protocol',
    frame(frameType.continuation, endHeaders, 1, block(...get)),
  ],
  '5.1: HEADERS behind a reset': ['streamClosed', open, rstStream(1), headers(1)],
  '5.1.1: a stream with an even number': ['protocol', headers(2)],
  '5.1.1: a stream with a lower number than the last': ['protocol', headers(5), headers(3)],
  '5.1.1: DATA on a stream with an even number': ['protocol', data(2, 'x')],
  '6.1: DATA on stream 0': ['protocol', data(0, 'x')],
  '6.1: more padding than DATA': ['protocol', open, data(1, '\x05abcd', padded)],
  '6.1: DATA without its padding': ['frameSize', open, data(1, '', padded)],
  '6.2: HEADERS on stream 0': ['protocol', headers(0)],
  '6.2: HEADERS on stream 0 that go on': ['protocol', headers(0, get, endStream)],
  '6.2: as much padding as HEADERS': ['protocol', frame(frameType.headers, endHeaders | padded, 1, '\x01')],
  '6.2: more padding than HEADERS': ['protocol', frame(frameType.headers, endHeaders | padded, 1, '\xffab')],
  '6.2: HEADERS without their priority': [
    'frameSize',
    frame(frameType.headers, endHeaders | priority, 1, 'ab'),
  ],
  '6.3: PRIORITY on stream 0': ['protocol', frame(frameType.priority, 0, 0, Buffer.alloc(5))],
  '6.3: PRIORITY of a wrong size on no stream': [
    'frameSize',
    frame(frameType.priority, 0, 9, Buffer.alloc(4)),
  ],
  '6.4: RST_STREAM on stream 0': ['protocol', rstStream(0)],
  '6.4: RST_STREAM of five bytes': ['frameSize', open, frame(frameType.rstStream, 0, 1, Buffer.alloc(5))],
  '6.5: SETTINGS on a stream': ['protocol', frame(frameType.settings, 0, 1)],
  '6.5: SETTINGS of five bytes': ['frameSize', frame(frameType.settings, 0, 0, Buffer.alloc(5))],
  '6.5: an acknowledgement with settings': [
    'frameSize',
    frame(frameType.settings, flag.ack, 0, Buffer.alloc(6)),
  ],
  '6.5.2: SETTINGS_ENABLE_PUSH of 2': ['protocol', settings([setting.enablePush, 2])],
  '6.5.2: SETTINGS_INITIAL_WINDOW_SIZE of 2^31': [
    'flowControl',
    settings([setting.initialWindowSize, 2 ** 31]),
  ],
  '6.5.2: SETTINGS_MAX_FRAME_SIZE of 16,383': ['protocol', settings([setting.maxFrameSize, 16_383])],
  '6.5.2: SETTINGS_MAX_FRAME_SIZE of 2^24': ['protocol', settings([setting.maxFrameSize, 2 ** 24])],
  'RFC 8441 3: SETTINGS_ENABLE_CONNECT_PROTOCOL of 2': [
    'protocol',
    settings([setting.enableConnectProtocol, 2]),
  ],
  '6.6: PUSH_PROMISE': ['protocol', frame(frameType.pushPromise, endHeaders, 1, Buffer.alloc(8))],
  '6.7: PING on a stream': ['protocol', frame(frameType.ping, 0, 1, Buffer.alloc(8))],
  '6.7: PING of seven bytes': ['frameSize', frame(frameType.ping, 0, 0, Buffer.alloc(7))],
  '6.8: GOAWAY on a stream': ['protocol', frame(frameType.goAway, 0, 1, Buffer.alloc(8))],
  '6.8: GOAWAY of seven bytes': ['frameSize', frame(frameType.goAway, 0, 0, Buffer.alloc(7))],
  '6.9: WINDOW_UPDATE by nothing': ['protocol', windowUpdate(0, 0)],
  '6.9: WINDOW_UPDATE of three bytes': ['frameSize', frame(frameType.windowUpdate, 0, 0, Buffer.alloc(3))],
  '6.9.1: a window of the connection above 2^31-1': ['flowControl', windowUpdate(0, 2 ** 31 - 1)],
  '6.9.2: a window of a stream above that, by a setting': [
    'flowControl',
    open,
    windowUpdate(1, 2 ** 31 - 1 - 65_535),
    settings([setting.initialWindowSize, 65_536]),
  ],
  '6.10: CONTINUATION on stream 0': [
    'protocol',
    headers(1, get, endStream),
    frame(frameType.continuation, 0, 0),
  ],
  '6.10: CONTINUATION of another stream': [
    'protocol',
    headers(1, get, endStream),
    frame(frameType.continuation, endHeaders, 3),
  ],
  '6.10: CONTINUATION behind a whole header block': [
    'protocol',
    open,
    frame(frameType.continuation, endHeaders, 1, block(['a', 'b'])),
  ],
  '6.10: CONTINUATION behind a whole header block that goes on': [
    'protocol',
    open,
    frame(frameType.continuation, 0, 1),
  ],
  '6.10: CONTINUATION behind DATA': [
    'protocol',
    open,
    data(1, 'x'),
    frame(frameType.continuation, endHeaders, 1),
  ],
}

for (const [what, [code, ...frames]] of Object.entries(connectionErrors))
  test(`${what} ends the connection`, () => {
    const peer = Peer.greeted()
    peer.send(...frames)
    assert.equal(peer.fault, 'protocol')
    const sent = peer.frames()
    assert.equal(codeOf(sent, 0), errorCode[code])
    assert.equal(sent.at(-1)!.type, frameType.goAway)
    for (const request of peer.requests) assert.ok(request.stream.isClosed)
    assert.equal(peer.session.isDone, true)
    assert.equal(peer.send(headers(9)), 'done')
    assert.deepEqual(peer.frames(), [])
  })

/** Header lists behind which the stream is reset with PROTOCOL_ERROR. */
const malformed: Readonly<Record<string, Pairs>> = {
  '8.2: a name in upper case': [...get, ['X-Test', 'a']],
  '8.2.1: a name with a blank': [...get, ['x test', 'a']],
  '8.2.1: a value with CR and LF': [...get, ['x', 'a\r\nb: c']],
  '8.2.1: a value with NUL': [...get, ['x', 'a\0']],
  '8.2.1: a value with a blank in front': [...get, ['x', ' a']],
  '8.2.2: Connection': [...get, ['connection', 'close']],
  '8.2.2: Connection as TE may be': [...get, ['connection', 'trailers']],
  '8.2.2: Keep-Alive': [...get, ['keep-alive', 'a']],
  '8.2.2: Proxy-Connection': [...get, ['proxy-connection', 'a']],
  '8.2.2: Transfer-Encoding': [...get, ['transfer-encoding', 'chunked']],
  '8.2.2: Upgrade': [...get, ['upgrade', 'h2c']],
  '8.2.2: TE of more than trailers': [...get, ['te', 'trailers, deflate']],
  '8.3: an unknown pseudo field': [[':test', 'a'], ...get],
  '8.3: a pseudo field of responses': [[':status', '200'], ...get],
  '8.3: a pseudo field behind another field': [['x', 'a'], ...get],
  '8.3: a pseudo field in two places': [...get.slice(0, 3), ['x', 'a'], ...get.slice(3)],
  '8.3.1: two of :method': [...get, [':method', 'GET']],
  '8.3.1: no :method': get.slice(1),
  '8.3.1: a :method of 65 bytes': [[':method', 'M'.repeat(65)], ...get.slice(1)],
  '8.3.1: a :method that is empty': [[':method', ''], ...get.slice(1)],
  '8.3.1: a :method that is no token': [[':method', 'G T'], ...get.slice(1)],
  '8.3.1: no :scheme': [get[0]!, ...get.slice(2)],
  '8.3.1: no :path': [...get.slice(0, 2), get[3]!],
  '8.3.1: an empty :path': [...get.slice(0, 2), [':path', ''], get[3]!],
  '8.5: CONNECT with :path': [[':method', 'CONNECT'], ...get.slice(1)],
  '8.5: CONNECT without :authority': [[':method', 'CONNECT']],
  'RFC 8441 4: :protocol without CONNECT': [...get, [':protocol', 'websocket']],
  'RFC 8441 4: :protocol without :path': [
    [':method', 'CONNECT'],
    [':protocol', 'websocket'],
    [':authority', 'a.example'],
  ],
  '8.1.1: a length and no body': [...post, ['content-length', '1']],
  '8.3: no field at all': [],
}

/** HEADERS without a field, as long as their flags require and not a byte longer. */
const bare: Readonly<Record<string, readonly [flags: number, payload: Buffer]>> = {
  '6.2: nothing but a priority': [priority, Buffer.alloc(5)],
  '6.2: nothing but padding': [padded, Buffer.from([2, 0, 0])],
  '6.2: nothing but a priority and no padding': [padded | priority, Buffer.alloc(6)],
}

for (const [what, [flags, payload]] of Object.entries(bare))
  test(`${what} is a trailer section without fields`, () => {
    const peer = Peer.greeted()
    peer.onBegin = ({ stream }) => peer.session.readBody(stream)
    peer.send(open, frame(frameType.headers, flags | endHeaders | endStream, 1, payload))
    assert.deepEqual([peer.requests[0]!.isOver, peer.requests[0]!.trailers, peer.fault], [true, null, null])
  })

test('6.5.2: settings are accepted up to their bounds', () => {
  for (const [id, value] of [
    [setting.headerTableSize, 0],
    [setting.enablePush, 0],
    [setting.enablePush, 1],
    [setting.enableConnectProtocol, 1],
    [setting.maxConcurrentStreams, 0],
    [setting.maxFrameSize, 16_384],
    [setting.maxFrameSize, 2 ** 24 - 1],
    [setting.initialWindowSize, 2 ** 31 - 1],
  ] as const) {
    const peer = Peer.greeted()
    peer.send(open, settings([id, value]))
    assert.deepEqual([peer.fault, codeOf(peer.frames(), 1)], [null, null], `${id}: ${value}`)
  }
})

test('6.9.1: a window may be as wide as 2^31-1', () => {
  const peer = Peer.greeted()
  const more = 2 ** 31 - 1 - 65_535
  peer.send(open, windowUpdate(0, more), windowUpdate(1, more))
  assert.deepEqual([peer.fault, codeOf(peer.frames(), 1)], [null, null])
})

test('RFC 7541 4.2: once the client has set the size of its table, the next block begins with ours', () => {
  const peer = Peer.greeted()
  peer.send(settings([setting.headerTableSize, 100]), headers(1), headers(3))
  for (const { stream } of peer.requests) peer.session.respond(stream, 204, '', true)
  const blocks = peer.frames().filter(({ type }) => type === frameType.headers)
  assert.deepEqual(
    blocks.map(({ payload }) => payload.toString('hex')),
    ['2089', '89'],
  )
  const other = Peer.greeted()
  other.send(settings([setting.initialWindowSize, 100]), headers(1))
  other.session.respond(other.requests[0]!.stream, 204, '', true)
  const [ack, head] = other.frames()
  assert.deepEqual(
    [ack!.type, ack!.flags, head!.payload.toString('hex')],
    [frameType.settings, flag.ack, '89'],
  )
})

for (const [what, fields] of Object.entries(malformed))
  test(`${what} resets the stream, and the next one is served`, () => {
    const peer = Peer.greeted()
    peer.send(headers(1, fields), headers(3))
    assert.equal(codeOf(peer.frames(), 1), errorCode.protocol)
    assert.deepEqual(
      peer.requests.map(({ stream }) => stream.id),
      [3],
    )
    assert.equal(peer.fault, null)
  })

/** Requests that are begun with a fault, to be refused by whoever serves them. */
const faulty: Readonly<Record<string, readonly [fault: string, fields: Pairs]>> = {
  'a path with a blank': ['bad_request', [...get.slice(0, 2), [':path', '/a b'], get[3]!]],
  'a path of absolute form': ['bad_request', [...get.slice(0, 2), [':path', 'https://a/'], get[3]!]],
  'a path of * for GET': ['bad_request', [...get.slice(0, 2), [':path', '*'], get[3]!]],
  'another scheme': ['bad_request', [get[0]!, [':scheme', 'ftp'], ...get.slice(2)]],
  'no host': ['bad_request', get.slice(0, 3)],
  'a Host that is another than :authority': ['bad_request', [...get, ['host', 'other.example']]],
  'two of Host': ['bad_request', [...get.slice(0, 3), ['host', 'a'], ['host', 'a']]],
  'a tunnel with a length': [
    'bad_request',
    [[':method', 'CONNECT'], [':protocol', 'websocket'], ...get.slice(1), ['content-length', '0']],
  ],
  'a length that is none': ['bad_request', [...get, ['content-length', 'x']]],
  'a long path': ['uri_too_long', [...get.slice(0, 2), [':path', `/${'a'.repeat(100)}`], get[3]!]],
  'a length without a body behind many fields': [
    'http_headers_exceed_limit',
    [...get, ['content-length', '1'], ...Array.from({ length: 100 }, (): [string, string] => ['x', 'a'])],
  ],
  'a Cookie behind many fields': [
    'http_headers_exceed_limit',
    [...get, ...Array.from({ length: 100 }, (): [string, string] => ['x', 'a']).with(50, ['cookie', 'a'])],
  ],
  'many fields': [
    'http_headers_exceed_limit',
    [...get, ...Array.from({ length: 100 }, (): [string, string] => ['x', 'a'])],
  ],
  'more fields than that': [
    'http_headers_exceed_limit',
    [...get, ...Array.from({ length: 101 }, (): [string, string] => ['x', 'a'])],
  ],
  'a tunnel whose handshake has too many fields': [
    'http_headers_exceed_limit',
    [
      [':method', 'CONNECT'],
      [':protocol', 'websocket'],
      ...get.slice(1),
      ...Array.from({ length: 98 }, (): [string, string] => ['x', 'a']),
    ],
  ],
  'a tunnel for another protocol': [
    'not_implemented',
    [[':method', 'CONNECT'], [':protocol', 'connect-udp'], ...get.slice(1)],
  ],
}

for (const [what, [fault, fields]] of Object.entries(faulty))
  test(`${what} is refused as ${fault}`, () => {
    const peer = Peer.greeted()
    peer.limits.url = 100
    peer.send(headers(1, fields))
    assert.equal(peer.requests[0]!.fault, fault)
    assert.equal(peer.fault, null)
    assert.deepEqual(peer.frames(), [])
  })

const accepted: Readonly<Record<string, Pairs>> = {
  'a method of 64 bytes': [[':method', 'M'.repeat(64)], ...get.slice(1)],
  'the scheme http': [get[0]!, [':scheme', 'http'], ...get.slice(2)],
  '* for OPTIONS': [[':method', 'OPTIONS'], get[1]!, [':path', '*'], get[3]!],
  'the longest path': [...get.slice(0, 2), [':path', `/${'a'.repeat(99)}`], get[3]!],
  'as many fields as are allowed': [
    ...get,
    ...Array.from({ length: 99 }, (): [string, string] => ['x', 'a']),
  ],
  'a length of nought and no body': [...get, ['content-length', '0']],
}

for (const [what, fields] of Object.entries(accepted))
  test(`${what} is accepted`, () => {
    const peer = Peer.greeted()
    peer.limits.url = 100
    peer.send(headers(1, fields))
    assert.deepEqual([peer.requests[0]?.fault, peer.session.requestCount], [null, 1])
    assert.deepEqual(peer.frames(), [])
  })

test('a header list may be as large as its limit, to the byte', () => {
  // Each field counts 32 bytes beside its text.
  const size = get.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0) + 32 + 3
  for (const [limit, fault] of [
    [size, null],
    [size - 1, 'http_headers_exceed_limit'],
  ] as const) {
    const peer = Peer.greeted()
    peer.limits.headerSection = limit
    peer.send(headers(1, [...get, ['x', 'ab']]))
    assert.equal(peer.requests[0]!.fault, fault)
  }
})

test('trailers may be as large as a header list, to the byte', () => {
  for (const [more, code] of [
    [0, null],
    [1, errorCode.protocol],
  ] as const) {
    const peer = Peer.greeted()
    peer.limits.headerSection = 200
    peer.send(headers(1, post.slice(0, 3).concat([[':authority', 'a']]), endHeaders))
    peer.send(
      headers(1, [
        ['x', 'a'.repeat(100)],
        ['y', 'b'.repeat(34 + more)],
      ]),
    )
    assert.deepEqual([codeOf(peer.frames(), 1), peer.fault], [code, null])
  }
})

test('a header list that is too large is refused, with its host', () => {
  const peer = Peer.greeted()
  const large = Array.from({ length: 90 }, (): [string, string] => ['x', 'a'.repeat(120)])
  peer.send(headers(1, [...get, ...large]), headers(3))
  const [refused, next] = peer.requests
  assert.equal(refused!.fault, null)
  assert.equal(next!.fault, null)
  peer.limits.headerSection = 13_000
  peer.send(headers(5, [...get, ...large]), headers(7))
  assert.equal(peer.requests[2]!.fault, 'http_headers_exceed_limit')
  assert.equal(peer.requests[2]!.head.host, 'shop.example')
  assert.equal(peer.requests[3]!.fault, null)
})

test('a head is as it would be over HTTP/1', () => {
  const peer = Peer.greeted()
  peer.send(
    headers(1, [
      ...get.slice(0, 2),
      [':path', '/a?b'],
      get[3]!,
      ['cookie', 'a=1'],
      ['x', 'y'],
      ['cookie', 'b=2'],
      ['te', 'trailers'],
    ]),
  )
  const { head, stream } = peer.requests[0]!
  assert.equal(head.method, 'GET')
  assert.equal(head.target, '/a?b')
  assert.equal(head.host, 'shop.example')
  assert.deepEqual(head.fields, ['x', 'y', 'te', 'trailers', 'cookie', 'a=1; b=2', 'host', 'shop.example'])
  assert.equal(head.keepAlive, true)
  assert.equal(head.minor, 1)
  assert.equal(stream.isRequestWhole, true)
  assert.equal(stream.isTunnel, false)
})

test('Host stands for an :authority that is missing', () => {
  const peer = Peer.greeted()
  peer.send(
    headers(1, [...get.slice(0, 3), ['host', 'Shop.example']]),
    headers(3, [...get, ['host', 'SHOP.example']]),
  )
  assert.equal(peer.requests[0]!.head.host, 'Shop.example')
  assert.equal(peer.requests[0]!.fault, null)
  assert.equal(peer.requests[1]!.head.host, 'SHOP.example')
  assert.equal(peer.requests[1]!.fault, null)
})

test('a request has nothing of the one before it', () => {
  const peer = Peer.greeted()
  const tunnel: Pairs = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...get.slice(1)]
  peer.send(
    headers(1, [...tunnel, ['cookie', 'a=1'], ['sec-websocket-key', 'k']], endHeaders),
    headers(3, [get[2]!, get[1]!, get[0]!, ['host', 'other.example']]),
    headers(5, get.slice(0, 3)),
    headers(7, [...tunnel.filter(([name]) => name !== ':scheme')]),
  )
  const [, plain, bare, ...rest] = peer.requests
  assert.deepEqual([plain!.fault, plain!.head.host, plain!.head.target], [null, 'other.example', '/'])
  assert.deepEqual([plain!.stream.isTunnel, plain!.stream.hasKey], [false, false])
  assert.deepEqual(plain!.head.fields, ['host', 'other.example'])
  assert.deepEqual([bare!.fault, bare!.head.host, rest], ['bad_request', null, []])
})

test('a request that is refused has the host of its field where it has no :authority', () => {
  const peer = Peer.greeted()
  peer.limits.headerSection = 200
  peer.send(headers(1, [...get.slice(0, 3), ['host', 'a.example'], ['x', 'a'.repeat(100)]]))
  const { head, fault } = peer.requests[0]!
  assert.deepEqual([head.host, fault], ['a.example', 'http_headers_exceed_limit'])
})

test('an extended CONNECT is the handshake of a WebSocket', () => {
  const peer = Peer.greeted()
  const fields: Pairs = [
    [':method', 'CONNECT'],
    [':protocol', 'websocket'],
    ...get.slice(1),
    ['sec-websocket-version', '13'],
  ]
  peer.send(headers(1, fields, endHeaders))
  const { head, stream } = peer.requests[0]!
  assert.equal(stream.isTunnel, true)
  assert.equal(head.method, 'GET')
  assert.equal(head.upgrade, 'websocket')
  assert.match(head.fields[head.fields.indexOf('sec-websocket-key') + 1]!, /^[A-Za-z0-9+/]{22}==$/)
  // Nothing but DATA comes through it (RFC 9113 section 8.5).
  peer.send(headers(1, [['x', 'y']]))
  assert.equal(codeOf(peer.frames(), 1), errorCode.protocol)
  assert.equal(peer.requests[0]!.aborted, 'malformed')
  // Its end is told, whether it comes with the handshake or later.
  peer.send(headers(3, fields), headers(5, fields, endHeaders), data(5, '', endStream))
  for (const request of peer.requests.slice(1)) {
    assert.equal(request.isOver, false)
    peer.session.readBody(request.stream)
    assert.equal(request.isOver, true)
  }
  assert.equal(peer.fault, null)
})

test('the key that a handshake brings is passed on, and one that is made is not told of', () => {
  const peer = Peer.greeted()
  const fields: Pairs = [[':method', 'CONNECT'], [':protocol', 'WebSocket'], ...get.slice(1)]
  const named: Pairs = [...fields, ['x', 'sec-websocket-key']]
  peer.send(
    headers(1, [...fields, ['x', 'y'], ['sec-websocket-key', 'own']], endHeaders),
    headers(3, named, endHeaders),
  )
  const [own, made] = peer.requests
  assert.deepEqual([own!.stream.hasKey, made!.stream.hasKey], [true, false])
  const keys = [own!, made!].map(({ head: { fields } }) =>
    fields.filter((_, i) => i % 2 === 1 && fields[i - 1] === 'sec-websocket-key'),
  )
  assert.deepEqual([keys[0], keys[1]!.length], [['own'], 1])
  assert.equal(own!.head.connection, 'upgrade')
})

test('a plain CONNECT has its authority as target', () => {
  const peer = Peer.greeted()
  peer.send(
    headers(1, [
      [':method', 'CONNECT'],
      [':authority', 'a.example:443'],
    ]),
  )
  assert.equal(peer.requests[0]!.head.method, 'CONNECT')
  assert.equal(peer.requests[0]!.head.target, 'a.example:443')
})

test('3.4: the session begins with SETTINGS, and acknowledges those of the client', () => {
  const peer = new Peer(100)
  const [first, second] = peer.frames()
  assert.equal(first!.type, frameType.settings)
  const pairs = Array.from({ length: first!.payload.length / 6 }, (_, i) => [
    first!.payload.readUInt16BE(i * 6),
    first!.payload.readUInt32BE(i * 6 + 2),
  ])
  assert.deepEqual(Object.fromEntries(pairs), {
    [setting.maxConcurrentStreams]: 100,
    [setting.maxHeaderListSize]: 16_384,
    [setting.enableConnectProtocol]: 1,
    [setting.noRfc7540Priorities]: 1,
  })
  assert.deepEqual([second!.type, second!.payload.readUInt32BE()], [frameType.windowUpdate, 2 ** 20 - 65_535])
  peer.send(preface, settings([setting.maxConcurrentStreams, 7], [1000, 1]))
  const [ack, ...rest] = peer.frames()
  assert.deepEqual(
    [ack!.type, ack!.flags, ack!.payload.length, rest.length],
    [frameType.settings, flag.ack, 0, 0],
  )
})

const noPrefaces = {
  'HTTP/1': Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  'a bad end': Buffer.concat([preface.subarray(0, 20), Buffer.from('xxxx')]),
}

for (const [what, bytes] of Object.entries(noPrefaces))
  test(`3.4: ${what} is no preface`, () => {
    const peer = new Peer()
    peer.send(bytes)
    assert.equal(peer.fault, 'protocol')
    assert.equal(codeOf(peer.frames(), 0), errorCode.protocol)
  })

for (const [what, first] of Object.entries({
  PING: ping,
  'an acknowledgement': settingsAck,
  HEADERS: headers(1),
  DATA: data(1, 'x'),
}))
  test(`3.4: ${what} before SETTINGS ends the connection`, () => {
    const peer = new Peer()
    peer.send(preface, first)
    assert.equal(peer.fault, 'protocol')
    assert.equal(peer.requests.length, 0)
  })

test('5.1: HEADERS and DATA behind the end of a request reset the stream', () => {
  for (const late of [data(1, 'x'), headers(1)]) {
    const peer = Peer.greeted()
    peer.send(headers(1), late)
    assert.equal(codeOf(peer.frames(), 1), errorCode.streamClosed)
    assert.equal(peer.requests[0]!.aborted, 'malformed')
    assert.equal(peer.fault, null)
  }
})

test('5.1: DATA behind the end of both sides ends the connection', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.respond(stream, 204, '', true)
  peer.send(headers(1), data(1, 'x'))
  assert.equal(codeOf(peer.frames(), 0), errorCode.streamClosed)
})

test('5.1: what was on its way to a stream that we have reset is let pass', () => {
  const peer = Peer.greeted()
  peer.send(open)
  peer.session.reset(peer.requests[0]!.stream, errorCode.cancel)
  peer.send(data(1, 'x'), windowUpdate(1, 1), rstStream(1), headers(1, [['a', 'b']]), headers(3))
  assert.equal(peer.fault, null)
  assert.equal(peer.requests.length, 2)
  assert.equal(peer.requests[0]!.aborted, null)
})

test('5.1: DATA behind a reset by the client is an error of its stream alone', () => {
  const peer = Peer.greeted()
  peer.send(open, rstStream(1), data(1, 'x'), headers(3))
  assert.equal(codeOf(peer.frames(), 1), errorCode.streamClosed)
  assert.equal(peer.fault, null)
  assert.deepEqual(
    peer.requests.map(({ aborted }) => aborted),
    ['client_reset', null],
  )
})

test('5.1: DATA behind a reset by the client gives the window of the connection back', () => {
  const peer = Peer.greeted()
  peer.send(open, rstStream(1))
  // Far more than that window, which is never opened again for a stream that is over.
  for (let i = 0; i < 200; i++) {
    peer.send(data(1, Buffer.alloc(16_384)))
    assert.ok(peer.frames().every(({ type, stream }) => type !== frameType.windowUpdate || stream === 0))
  }
  assert.equal(peer.fault, null)
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(headers(3, post, endHeaders), data(3, 'whole', endStream))
  assert.equal(peer.requests[1]!.body, 'whole')
})

test('5.1: RST_STREAM, WINDOW_UPDATE and PRIORITY may come behind the end of a stream', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.respond(stream, 204, '', true)
  peer.send(headers(1), rstStream(1), windowUpdate(1, 1), frame(frameType.priority, 0, 1, Buffer.alloc(5)))
  assert.equal(peer.fault, null)
})

test('5.1.2: more streams than allowed are refused, and may be tried again', () => {
  const peer = Peer.greeted(2)
  peer.send(headers(1), headers(3), headers(5))
  assert.equal(codeOf(peer.frames(), 5), errorCode.refusedStream)
  assert.equal(peer.requests.length, 2)
  peer.session.respond(peer.requests[0]!.stream, 204, '', true)
  peer.send(headers(7))
  assert.equal(peer.requests.length, 3)
})

test('5.3: priorities are ignored', () => {
  const peer = Peer.greeted()
  const dependent = frame(
    frameType.headers,
    endHeaders | endStream | priority | padded,
    1,
    Buffer.concat([Buffer.from([2, 0, 0, 0, 1, 5]), block(...get), Buffer.alloc(2)]),
  )
  const fields = block(...get)
  const begun = Buffer.concat([Buffer.from([2, 0, 0, 0, 1, 5]), fields.subarray(0, 9), Buffer.alloc(2)])
  peer.send(
    frame(frameType.priority, 0, 9, Buffer.alloc(5)),
    dependent,
    frame(frameType.priorityUpdate, 0, 0, uint32(1)),
    frame(frameType.headers, endStream | priority | padded, 3, begun),
    frame(frameType.continuation, endHeaders, 3, fields.subarray(9)),
  )
  assert.equal(peer.fault, null)
  assert.deepEqual(
    peer.requests.map(({ head }) => head.target),
    ['/', '/'],
  )
})

test('5.5: unknown frames and flags are ignored', () => {
  const peer = Peer.greeted()
  peer.send(frame(200, 0xff, 77, 'abc'), frame(frameType.ping, 0x10, 0, Buffer.alloc(8)), headers(1))
  assert.equal(peer.requests.length, 1)
  assert.equal(peer.frames().filter(({ type }) => type === frameType.ping).length, 1)
})

test('6.1: padding is no part of a body, and counts for the windows', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  const chunk = Buffer.concat([Buffer.from([200]), Buffer.from('abc'), Buffer.alloc(200)])
  peer.send(
    open,
    data(1, chunk, padded),
    data(1, Buffer.concat([Buffer.from([4]), Buffer.alloc(4)]), padded | endStream),
  )
  assert.deepEqual([peer.requests[0]!.body, peer.requests[0]!.isOver], ['abc', true])
  for (let i = 0; i < 2_000; i++) {
    const id = 3 + 2 * i
    peer.send(headers(id, post, endHeaders), data(id, chunk, padded | endStream))
    peer.session.respond(peer.requests.at(-1)!.stream, 204, '', true)
    peer.frames()
  }
  assert.equal(peer.fault, null)
})

test('6.3: PRIORITY of a wrong size resets its stream', () => {
  const peer = Peer.greeted()
  peer.send(open, frame(frameType.priority, 0, 1, Buffer.alloc(4)))
  assert.equal(codeOf(peer.frames(), 1), errorCode.frameSize)
})

test('6.7: a PING is answered with what it brought, an answer is not', () => {
  const peer = Peer.greeted()
  peer.send(ping, frame(frameType.ping, flag.ack, 0, Buffer.alloc(8)))
  assert.deepEqual(
    peer.frames().map(({ type, flags, payload }) => [type, flags, payload.toString()]),
    [[frameType.ping, flag.ack, '12345678']],
  )
})

test('6.9: a window of a stream that is widened by nothing, or too far, resets it', () => {
  for (const [increment, code] of [
    [0, errorCode.protocol],
    [2 ** 31 - 1, errorCode.flowControl],
  ] as const) {
    const peer = Peer.greeted()
    peer.send(open, windowUpdate(1, increment))
    assert.equal(codeOf(peer.frames(), 1), code)
    assert.equal(peer.fault, null)
  }
})

test('6.9.1: more DATA than a window allows', () => {
  const part = Buffer.alloc(16_384)
  const peer = Peer.greeted()
  peer.send(open, ...Array.from({ length: 4 }, () => data(1, part)))
  assert.equal(codeOf(peer.frames(), 1), errorCode.flowControl)
  assert.equal(peer.requests[0]!.aborted, 'malformed')
})

test('8.1: trailers end a request; those without the end of it, or with pseudo fields, reset it', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(
    open,
    data(1, 'abc'),
    headers(1, [
      ['x-sum', '1'],
      ['cookie', 'a=1'],
    ]),
  )
  assert.deepEqual([peer.requests[0]!.isOver, peer.requests[0]!.trailers], [true, ['x-sum', '1']])
  peer.send(headers(3, post, endHeaders), headers(3, [['x-sum', '1']], endHeaders))
  assert.equal(codeOf(peer.frames(), 3), errorCode.protocol)
  for (const field of [
    [':path', '/'],
    ['X-Sum', '1'],
    ['connection', 'close'],
    ['content-length', '3'],
  ] as const) {
    const id = 5 + 2 * peer.requests.length
    peer.send(headers(id, post, endHeaders), headers(id, [field]))
    assert.equal(codeOf(peer.frames(), id), errorCode.protocol, field.join())
  }
})

test('8.1.1: a body of another length than it was said resets the stream', () => {
  const sized = headers(1, [...post, ['content-length', '3']], endHeaders)
  for (const parts of [
    [data(1, 'abcd')],
    [data(1, 'ab'), data(1, 'cd')],
    [data(1, 'ab', endStream)],
    [headers(1, [['x', 'y']])],
  ]) {
    const peer = Peer.greeted()
    peer.onBegin = ({ stream }) => peer.session.readBody(stream)
    peer.send(sized, ...parts)
    assert.equal(codeOf(peer.frames(), 1), errorCode.protocol)
    assert.equal(peer.requests[0]!.aborted, 'malformed')
    assert.equal(peer.requests[0]!.isOver, false)
  }
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(sized, data(1, 'ab'), data(1, 'c', endStream))
  assert.deepEqual([peer.requests[0]!.body, peer.requests[0]!.isOver], ['abc', true])
  assert.deepEqual(peer.frames(), [])
})

// ── bodies and windows ──

test('a body waits until it is asked for, and its window with it', () => {
  const peer = Peer.greeted()
  peer.send(
    open,
    data(1, Buffer.alloc(16_384, 'a')),
    data(1, Buffer.alloc(16_384, 'b')),
    data(1, Buffer.alloc(16_384, 'c')),
  )
  const request = peer.requests[0]!
  assert.equal(request.body, '')
  assert.deepEqual(peer.frames(), [])
  peer.session.readBody(request.stream)
  assert.equal(request.body.length, 3 * 16_384)
  const [update] = peer.frames()
  assert.deepEqual(
    [update!.type, update!.stream, update!.payload.readUInt32BE()],
    [frameType.windowUpdate, 1, 3 * 16_384],
  )
  peer.session.pauseBody(request.stream)
  peer.send(data(1, 'd', endStream))
  assert.deepEqual([request.body.at(-1), request.isOver], ['c', false])
  peer.session.readBody(request.stream)
  assert.deepEqual([request.body.at(-1), request.isOver], ['d', true])
})

test('the window of a body that is read is given back once half of it has come', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(open, data(1, Buffer.alloc(16_384)), data(1, Buffer.alloc(16_383)))
  assert.deepEqual(peer.frames(), [])
  peer.send(data(1, 'x'))
  const [update, ...others] = peer.frames()
  assert.deepEqual(
    [update!.type, update!.stream, update!.payload.readUInt32BE(), others],
    [frameType.windowUpdate, 1, 32_768, []],
  )
})

test('windows are given back again and again, with the padding', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(open)
  const frames = [data(1, Buffer.alloc(16_384)), data(1, Buffer.alloc(16_384, 255), padded)]
  const given: (readonly [stream: number, increment: number])[] = []
  for (let i = 0; i < 40; i++) {
    peer.send(...frames)
    for (const { stream, payload } of peer.frames()) given.push([stream, payload.readUInt32BE()])
  }
  const of = (id: number) => given.filter(([stream]) => stream === id).map(([, increment]) => increment)
  assert.deepEqual(of(1), Array(40).fill(32_768))
  assert.deepEqual(of(0), Array(2).fill(33 * 16_384))
})

test('a body may be as large as its window', () => {
  const peer = Peer.greeted()
  peer.send(open, ...[16_384, 16_384, 16_384, 16_383].map(size => data(1, Buffer.alloc(size))))
  assert.deepEqual([peer.frames(), peer.fault], [[], null])
})

test('the window of the connection is given back once less than half of it is left', () => {
  const peer = Peer.greeted()
  const part = Buffer.alloc(16_384)
  for (let i = 0; i < 16; i++)
    peer.send(headers(1 + 2 * i, post, endHeaders), data(1 + 2 * i, part), data(1 + 2 * i, part))
  assert.deepEqual(peer.frames(), [])
  peer.send(data(1, 'x'))
  const [update, ...others] = peer.frames()
  assert.deepEqual([update!.stream, update!.payload.readUInt32BE(), others], [0, 2 ** 19 + 1, []])
})

test('the end of a body is told once', () => {
  const peer = Peer.greeted()
  const ends: number[] = []
  peer.bodyEnd = ({ id }) => void ends.push(id)
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(open, data(1, 'x', endStream), headers(3))
  for (const { stream } of peer.requests) {
    peer.session.pauseBody(stream)
    peer.session.readBody(stream)
    peer.session.readBody(stream)
  }
  assert.deepEqual(ends, [1])
})

test('bodies that nobody reads keep no other from coming', () => {
  const peer = Peer.greeted()
  const full = [16_384, 16_384, 16_384, 16_383].map(size => Buffer.alloc(size))
  for (let i = 0; i < 40; i++) {
    peer.send(headers(1 + 2 * i, post, endHeaders), ...full.map(bytes => data(1 + 2 * i, bytes)))
    peer.frames()
  }
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(headers(201, post, endHeaders), data(201, 'abc', endStream))
  assert.equal(peer.requests.at(-1)!.body, 'abc')
  assert.equal(peer.fault, null)
})

const lines = 'Content-Type: text/plain\r\nX-Long: a\r\nConnection: close\r\nSet-Cookie: a=1\r\n'

test('a small response is a HEADERS and a DATA frame, in one piece', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    peer.session.respond(stream, 200, lines, false)
    peer.session.write(stream, Buffer.from('hello'))
    peer.session.end(stream, null)
  }
  peer.send(headers(1), headers(3))
  const frames = framesOf(peer.session.takeOutput()!)
  assert.deepEqual(
    frames.map(({ type, flags, stream }) => [type, flags, stream]),
    [
      [frameType.headers, endHeaders, 1],
      [frameType.data, endStream, 1],
      [frameType.headers, endHeaders, 3],
      [frameType.data, endStream, 3],
    ],
  )
  assert.deepEqual(peer.fieldsOf(frames[0]!), [
    [':status', '200'],
    ['content-type', 'text/plain'],
    ['x-long', 'a'],
    ['set-cookie', 'a=1'],
  ])
  assert.equal(peer.session.takeOutput(), null)
  assert.equal(peer.session.streamCount, 0)
})

test('interim responses and trailers go out around the body, and an end without one with the head', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    peer.session.interim(stream, 103, 'Link: </a>\r\n')
    peer.session.respond(stream, 418, '', false)
    if (stream.id === 3) return peer.session.end(stream, null)
    peer.session.write(stream, Buffer.from('hello'))
    peer.session.end(stream, ['Grpc-Status', '0'])
  }
  peer.send(headers(1), headers(3))
  const frames = peer.frames()
  assert.deepEqual(
    frames.map(({ type, flags, stream }) => [type, flags, stream]),
    [
      [frameType.headers, endHeaders, 1],
      [frameType.headers, endHeaders, 1],
      [frameType.data, 0, 1],
      [frameType.headers, endHeaders | endStream, 1],
      [frameType.headers, endHeaders, 3],
      [frameType.headers, endHeaders | endStream, 3],
    ],
  )
  assert.deepEqual(peer.fieldsOf(frames[0]!)[0], [':status', '103'])
  assert.deepEqual(peer.fieldsOf(frames[1]!)[0], [':status', '418'])
  assert.deepEqual(peer.fieldsOf(frames[3]!), [['grpc-status', '0']])
})

test('an end goes with the last frame of its stream, or else in a frame of its own', () => {
  const ends = (between: (peer: Peer) => void) => {
    const peer = Peer.greeted()
    peer.send(headers(1), headers(3))
    const [first, second] = peer.requests.map(({ stream }) => stream)
    peer.session.respond(second!, 200, '', false)
    peer.session.respond(first!, 200, '', false)
    between(peer)
    peer.session.end(first!, null)
    return peer.frames().map(({ type, stream, flags }) => [type, stream, flags])
  }
  const own = [frameType.data, 1, endStream]
  assert.deepEqual(ends(() => {}).at(-1), [frameType.headers, 1, endHeaders | endStream])
  assert.deepEqual(
    ends(peer => void peer.frames()),
    [own],
  )
  assert.deepEqual(ends(peer => void peer.send(ping)).slice(1), [
    [frameType.headers, 1, endHeaders],
    [frameType.ping, 0, flag.ack],
    own,
  ])
  const other = ends(peer => void peer.session.write(peer.requests[1]!.stream, Buffer.from('x')))
  assert.deepEqual(other.slice(1), [[frameType.headers, 1, endHeaders], [frameType.data, 3, 0], own])
})

test('an interim response goes out only before the response, and only while its stream is open', () => {
  const peer = Peer.greeted()
  peer.send(headers(1), headers(3))
  const [first, second] = peer.requests.map(({ stream }) => stream)
  peer.session.respond(first!, 200, '', false)
  peer.session.reset(second!, errorCode.cancel)
  peer.frames()
  for (const stream of [first!, second!]) peer.session.interim(stream, 103, '')
  peer.session.respond(second!, 200, '', true)
  assert.deepEqual(peer.frames(), [])
})

test('streams whose bytes wait are counted until they go out, or their stream ends', () => {
  const peer = Peer.greeted()
  serveBytes(peer, 100)
  peer.send(settings([setting.initialWindowSize, 10]), headers(1), headers(3), headers(5))
  assert.equal(peer.session.stalledCount, 3)
  peer.frames()
  peer.send(windowUpdate(1, 90), rstStream(3))
  peer.frames()
  assert.equal(peer.session.stalledCount, 1)
  peer.session.close()
  assert.equal(peer.session.stalledCount, 0)
})

/** Opens a stream that has its response before its request is whole. */
function linger(): Peer {
  const peer = Peer.greeted()
  peer.now = 1_000
  peer.send(open, data(1, Buffer.alloc(16_384)), data(1, Buffer.alloc(16_384)), data(1, Buffer.alloc(16_384)))
  peer.session.respond(peer.requests[0]!.stream, 413, '', true)
  assert.deepEqual(
    peer.frames().map(({ type, flags }) => [type, flags]),
    [
      [frameType.headers, endHeaders | endStream],
      [frameType.windowUpdate, 0],
    ],
  )
  assert.equal(peer.requests[0]!.stream.isClosed, true)
  return peer
}

test('8.1: a request that is not whole with its response may come to its end, for nothing', () => {
  const ends = [[data(1, 'x', endStream)], [headers(1, [['x', 'y']])], [rstStream(1)]]
  for (const end of ends) {
    const peer = linger()
    for (let i = 0; i < 50; i++) peer.send(data(1, Buffer.alloc(16_384)))
    assert.equal(peer.session.streamCount, 1)
    peer.send(...end)
    assert.equal(peer.session.streamCount, 0)
    assert.ok(peer.frames().every(({ type }) => type === frameType.windowUpdate))
    assert.deepEqual([peer.fault, peer.requests[0]!.aborted, peer.requests[0]!.body], [null, null, ''])
  }
})

test('8.1: it is called off after two seconds', () => {
  const peer = linger()
  peer.session.sweep(2_999, 0)
  assert.equal(peer.session.streamCount, 1)
  peer.session.sweep(3_000, 0)
  assert.equal(codeOf(peer.frames(), 1), errorCode.none)
  peer.send(data(1, 'x'))
  assert.deepEqual([peer.fault, peer.session.streamCount], [null, 0])
})

test('8.1: what breaks the rules there resets the stream, and its owner does not hear of it', () => {
  const peer = linger()
  peer.send(windowUpdate(1, 0))
  assert.equal(codeOf(peer.frames(), 1), errorCode.protocol)
  assert.equal(peer.requests[0]!.aborted, null)
  const closed = linger()
  closed.session.close()
  assert.equal(closed.requests[0]!.aborted, null)
})

test('a head of more than a frame goes on in CONTINUATION frames', () => {
  const peer = Peer.greeted()
  const value = 'v'.repeat(40_000)
  peer.onBegin = ({ stream }) => peer.session.respond(stream, 200, `x-large: ${value}\r\n`, true)
  peer.send(headers(1))
  const frames = peer.frames()
  assert.deepEqual(
    frames.map(({ type, flags }) => [type, flags]),
    [
      [frameType.headers, endStream],
      [frameType.continuation, 0],
      [frameType.continuation, endHeaders],
    ],
  )
  const whole = { ...frames[0]!, payload: Buffer.concat(frames.map(({ payload }) => payload)) }
  assert.deepEqual(peer.fieldsOf(whole)[1], ['x-large', value])
})

/** Responds to every request with so many bytes, which are written at once. */
function serveBytes(peer: Peer, length: number): void {
  peer.onBegin = ({ stream }) => {
    peer.session.respond(stream, 200, '', false)
    peer.session.write(stream, Buffer.alloc(length, stream.id))
    peer.session.end(stream, null)
  }
}

function bytesOf(
  frames: readonly { type: number; stream: number; payload: Buffer }[],
  stream: number,
): number {
  const own = frames.filter(sent => sent.type === frameType.data && sent.stream === stream)
  return own.reduce((sum, { payload }) => sum + payload.length, 0)
}

test('6.9.2: a response goes as far as its window, however it changes, below zero too', () => {
  const peer = Peer.greeted()
  serveBytes(peer, 1_000)
  peer.send(settings([setting.initialWindowSize, 100]), headers(1))
  assert.equal(bytesOf(peer.frames(), 1), 100)
  peer.send(settings([setting.initialWindowSize, 50]), windowUpdate(1, 60))
  assert.equal(bytesOf(peer.frames(), 1), 10)
  peer.send(settings([setting.initialWindowSize, 51]))
  assert.equal(bytesOf(peer.frames(), 1), 1)
  peer.send(windowUpdate(1, 2_000))
  const rest = peer.frames()
  assert.equal(bytesOf(rest, 1), 889)
  assert.equal(rest.at(-1)!.flags, endStream)
})

test('a window that shrinks to nothing while a stream has its turn sends no empty frames', () => {
  const peer = Peer.greeted()
  serveBytes(peer, 200_000)
  peer.send(settings([setting.initialWindowSize, 2 ** 20]), headers(1))
  peer.send(settings([setting.initialWindowSize, 0]))
  const frames = peer.frames()
  assert.ok(frames.every(({ type, payload }) => type !== frameType.data || payload.length > 0))
})

test('the window of the connection holds all streams, which then go on in turns', () => {
  const peer = Peer.greeted()
  serveBytes(peer, 100_000)
  peer.send(settings([setting.initialWindowSize, 2 ** 20]), headers(1), headers(3), headers(5))
  assert.equal(bytesOf(peer.frames(), 1), 65_535)
  peer.send(windowUpdate(0, 3 * 16_384))
  const frames = peer.frames().filter(({ type }) => type === frameType.data)
  assert.deepEqual(
    frames.map(({ stream, payload }) => [stream, payload.length]),
    [
      [1, 16_384],
      [3, 16_384],
      [5, 16_384],
    ],
  )
})

test('output is taken in pieces, and whoever writes is told to wait and to go on', () => {
  const peer = Peer.greeted()
  peer.send(settings([setting.initialWindowSize, 2 ** 30]), windowUpdate(0, 2 ** 30), headers(1))
  peer.frames()
  const request = peer.requests[0]!
  peer.session.respond(request.stream, 200, '', false)
  assert.equal(peer.session.write(request.stream, Buffer.alloc(2 ** 20)), false)
  assert.ok(peer.session.takeOutput()!.length < 96 * 1024)
  assert.equal(request.drained, 0)
  peer.frames()
  assert.equal(request.drained, 1)
  assert.equal(peer.session.write(request.stream, Buffer.alloc(10)), true)
  peer.session.end(request.stream, null)
  assert.equal(peer.frames().at(-1)!.flags, endStream)
})

test('the memory of output is not used again before more is taken', () => {
  const peer = Peer.greeted()
  peer.send(settings([setting.initialWindowSize, 2 ** 30]), windowUpdate(0, 2 ** 30), headers(1))
  peer.frames()
  const { stream } = peer.requests[0]!
  peer.session.respond(stream, 200, '', false)
  peer.session.write(stream, Buffer.alloc(300_000, 'a'))
  const first = peer.session.takeOutput()!
  assert.ok(first.includes('aaaa'))
  const before = Buffer.from(first)
  peer.session.write(stream, Buffer.alloc(300_000, 'b'))
  assert.ok(first.equals(before))
  const second = Buffer.from(peer.session.takeOutput()!)
  assert.equal(bytesOf(framesOf(Buffer.concat([before, second])), 1), 2 * 65_536)
})

test('a reset drops what waits, and nothing more is sent', () => {
  const peer = Peer.greeted()
  serveBytes(peer, 100_000)
  peer.send(headers(1))
  peer.frames()
  peer.send(rstStream(1), windowUpdate(0, 2 ** 20))
  assert.deepEqual(peer.frames(), [])
  assert.equal(peer.requests[0]!.aborted, 'client_reset')
  peer.session.write(peer.requests[0]!.stream, Buffer.alloc(10))
  peer.session.end(peer.requests[0]!.stream, null)
  peer.session.reset(peer.requests[0]!.stream, errorCode.cancel)
  assert.deepEqual(peer.frames(), [])
})

test('the user hears of output once, until all was taken', () => {
  const peer = Peer.greeted()
  peer.outputs = 0
  peer.onBegin = ({ stream }) => peer.session.respond(stream, 204, '', true)
  peer.send(headers(1), headers(3))
  assert.equal(peer.outputs, 1)
  peer.send(headers(5))
  assert.equal(peer.outputs, 1)
  peer.frames()
  peer.send(headers(7))
  assert.equal(peer.outputs, 2)
})

// ── the end ──

test('6.8: a shutdown takes what is on its way for a second, then serves what is open, then is done', () => {
  const peer = Peer.greeted()
  peer.send(headers(1))
  peer.session.shutdown(5_000)
  const [first] = peer.frames()
  assert.equal(first!.payload.readUInt32BE(), 2 ** 31 - 1)
  peer.send(headers(3))
  peer.session.sweep(5_500, 0)
  assert.deepEqual(peer.frames(), [])
  peer.session.sweep(6_000, 0)
  const [second] = peer.frames()
  assert.deepEqual([second!.payload.readUInt32BE(), second!.payload.readUInt32BE(4)], [3, errorCode.none])
  peer.send(headers(5))
  assert.equal(codeOf(peer.frames(), 5), errorCode.refusedStream)
  assert.equal(peer.session.isDone, false)
  for (const { stream } of peer.requests) peer.session.respond(stream, 204, '', true)
  assert.equal(peer.session.isDone, true)
  assert.equal(peer.fault, null)
})

test('6.8: a shutdown begins once, and not at all behind the end of a session', () => {
  const peer = Peer.greeted()
  peer.session.shutdown(0)
  peer.session.shutdown(500)
  assert.equal(peer.frames().length, 1)
  peer.session.sweep(999, 0)
  assert.deepEqual(peer.frames(), [])
  peer.session.sweep(1_000, 0)
  assert.equal(peer.frames().length, 1)
  peer.session.sweep(2_000, 0)
  assert.deepEqual(peer.frames(), [])
  const failed = Peer.greeted()
  failed.send(windowUpdate(0, 0))
  failed.frames()
  failed.session.shutdown(0)
  failed.session.sweep(5_000, 0)
  failed.session.close()
  assert.deepEqual(failed.frames(), [])
})

test('6.8: a client that goes away is served what it has asked for', () => {
  const peer = Peer.greeted()
  peer.send(headers(1), frame(frameType.goAway, 0, 0, Buffer.alloc(8)))
  assert.equal(peer.session.isDone, false)
  peer.session.respond(peer.requests[0]!.stream, 204, '', true)
  assert.equal(peer.session.isDone, true)
})

test('streams are aborted where the connection is gone', () => {
  const peer = Peer.greeted()
  peer.send(open, headers(3))
  peer.session.close()
  assert.deepEqual(
    peer.requests.map(({ aborted }) => aborted),
    ['session', 'session'],
  )
  assert.equal(peer.fault, null)
})

// ── bytes in any pieces ──

const story = [
  preface,
  settings([setting.initialWindowSize, 1000]),
  settingsAck,
  headers(1, [...post, ['content-length', '9']], endHeaders),
  data(1, '\x02abcd\0\0', padded),
  headers(3, get, endStream),
  frame(frameType.continuation, 0, 3, block(['x', 'y'])),
  frame(frameType.continuation, endHeaders, 3),
  data(1, 'efghi', endStream),
  frame(200, 0, 0, 'abc'),
  ping,
]

function tell(pieces: readonly Buffer[]): unknown {
  const peer = new Peer()
  peer.onBegin = ({ stream }) => {
    peer.session.readBody(stream)
    peer.session.respond(stream, 200, lines, false)
    peer.session.write(stream, Buffer.from('x'.repeat(500)))
  }
  for (const piece of pieces) peer.session.read(piece, 0)
  const requests = peer.requests.map(({ head, body, isOver }) => [head.method, head.fields, body, isOver])
  return { requests, sent: peer.frames(), fault: peer.fault }
}

test('a stream of bytes means the same at whichever byte it is cut', () => {
  const bytes = Buffer.concat(story)
  const whole = tell([bytes])
  for (let at = 1; at < bytes.length; at++)
    assert.deepEqual(tell([bytes.subarray(0, at), bytes.subarray(at)]), whole)
  assert.deepEqual(tell(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))), whole)
})

const anyFrame = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 10 }), fc.nat(255)),
    fc.oneof(fc.constantFrom(0, 1, 4, 5, 8, 13, 32), fc.nat(255)),
    fc.oneof(fc.integer({ min: 0, max: 9 }), fc.nat(2 ** 31)),
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(block(...get), block(...post), uint32(1), Buffer.alloc(8), Buffer.alloc(0)),
    ),
  )
  .map(([type, flags, stream, payload]) => frame(type, flags, stream, Buffer.from(payload)))

test('whatever frames come, nothing is thrown, and what is sent are frames', () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 40 }), fc.boolean(), (frames, isServed) => {
      const peer = Peer.greeted(3)
      if (isServed) {
        peer.onBegin = ({ stream }) => {
          peer.session.readBody(stream)
          peer.session.respond(stream, 200, lines, false)
          peer.session.write(stream, Buffer.alloc(100_000))
          peer.session.end(stream, ['a', 'b'])
        }
      }
      peer.send(...frames)
      const sent = peer.frames()
      assert.equal(peer.fault !== null, codeOf(sent, 0) !== null)
      assert.ok(peer.session.streamCount <= 3)
      if (peer.fault !== null) assert.equal(peer.session.streamCount, 0)
    }),
    { numRuns: 500 },
  )
})

test('bytes that are no frames end in a stated error, or wait for more', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), garbage => {
      const peer = Peer.greeted()
      peer.send(Buffer.from(garbage))
      if (peer.fault !== null) assert.notEqual(codeOf(peer.frames(), 0), null)
    }),
  )
})
