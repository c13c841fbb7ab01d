// Mutations of HTTP/2 to clients: what one of them can make us do for nothing.

import type { Mutated } from './mutation.ts'

export const http2Clients: readonly Mutated[] = [
  {
    file: 'http2/server/header-frames.ts',
    tests: ['http2/abuse'],
    changes: [
      {
        text: 'if (size <= bearable) return size',
        becomes: 'if (true) return size',
        breaks: 'a connection can send blocks that unpack to megabytes again and again',
      },
    ],
  },
  {
    file: 'http2/server/inflow.ts',
    tests: ['http2/abuse'],
    changes: [
      {
        text: 'this.#writer.rstStream(id, errorCode.streamClosed)\n    return this.#allowance.spendControl()',
        becomes: 'this.#writer.rstStream(id, errorCode.streamClosed)\n    return true',
        breaks: 'DATA on streams that a client has reset costs it nothing',
      },
    ],
  },
  {
    file: 'http2/server/session.ts',
    tests: ['http2/abuse', 'wire/http2-leaving'],
    changes: [
      {
        text: 'if (lingersUntil === 0 && !this.#allowance.spendReset()) return',
        becomes: '',
        breaks: 'requests cost nothing to a client that closes the connection in place of resetting them',
      },
    ],
  },
  {
    file: 'http2/hpack/decoder.ts',
    tests: ['http2/hpack/decoder'],
    changes: [
      {
        text: 'else if (size > bearable) return size',
        becomes: '',
        breaks: 'a header block that is refused is read to its end all the same',
      },
    ],
  },
  {
    file: 'edge/accept/unproven-connections.ts',
    tests: ['edge/accept/newcomers'],
    changes: [
      {
        text: 'this.#newOf(room, now) < mostNew)) return false',
        becomes: 'true)) return false',
        breaks: 'of connections that attack at once, all are read before any is known',
      },
      {
        text: "else if (now - since < (standing === 'busy' ? longestBusy : silence)) count++",
        becomes: 'else count++',
        breaks: 'connections that say nothing have others of the address wait',
      },
      {
        text: 'if (count >= free && now < waiting[0]!.until) return',
        becomes: 'if (count >= free) return',
        breaks: 'a client that attacks slowly has others of its address wait without end',
      },
      {
        text: 'this.#limits.leave(peer)',
        becomes: '',
        breaks: 'connections that have waited count twice under the limits',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-spending.ts',
    tests: ['edge/client/http2-spending'],
    changes: [
      {
        text: 'if (!budgets.resets.charge(reset, now)) return',
        becomes: 'if (false) return',
        breaks: 'a client that connects again and again can have any number of requests reset',
      },
      {
        text: 'resets: 8, controlFrames: 80',
        becomes: 'resets: 0, controlFrames: 0',
        breaks: 'pages that are closed while they load add up to an offence',
        tests: ['edge/client/http2-spending', 'wire/http2-leaving'],
      },
      {
        text: 'if (this.#byAddress.size > most)',
        becomes: 'if (false)',
        breaks: 'clients of many addresses fill the memory',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-connection.ts',
    tests: ['edge/client/http2-connection'],
    changes: [
      {
        text: 'this.pinned?.close()',
        becomes: '',
        breaks: 'authenticated connections outlive their client of HTTP/2',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'if (isBroken) this.#leave()',
        becomes: '',
        breaks: 'a client that resets its connections leaves any number of requests behind',
        tests: ['wire/http2-leaving'],
      },
      {
        text: 'readNothingAhead(socket)',
        becomes: '',
        breaks:
          'of a client that has to wait and sends a few bytes at a time, thousands of pieces are read and kept',
      },
      {
        text: "if (fault !== 'session') this.#requests",
        becomes: 'this.#requests',
        breaks: 'requests that are left behind are ended in one turn, however many there are',
      },
      {
        text: 'if (!this.#isClosed || this.#requests.count > 0)',
        becomes: 'if (!this.#isClosed)',
        breaks: 'a gateway stops before it has recorded requests of clients that have left',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-account.ts',
    tests: ['edge/client/http2-connection'],
    changes: [
      {
        text: 'fault !== null && !snapshot.trusted.has(peer)',
        becomes: 'fault !== null',
        breaks: 'clients behind a trusted hop pay for each other',
        tests: ['wire/http2-leaving'],
      },
      {
        text: 'this.#waitingRequests = waitingCount',
        becomes: '',
        breaks: 'what an address does counts again and again',
      },
      {
        text: 'const { waitingCount, stalledCount } = this.#connection.session',
        becomes: 'const { waitingCount, waitingCount: stalledCount } = this.#connection.session',
        breaks: 'a service whose many calls take long at their provider can begin but few a second',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-reader.ts',
    tests: ['edge/client/http2-connection'],
    changes: [
      {
        text: 'this.#account.settleUp()\n    this.#account.count()',
        becomes: 'this.#account.count()',
        breaks: 'a hundred connections at a time can do a hundred times as much as one',
        tests: ['wire/http2-penalties'],
      },
      {
        text: 'this.#charge(work - this.#turns.work.left)',
        becomes: '',
        breaks: 'a client that takes no responses has any number of requests begun at once',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-address.ts',
    tests: ['edge/client/http2-address'],
    changes: [
      {
        text: 'return delay < mostEarly ? 0 : delay',
        becomes: 'return Math.max(0, delay)',
        breaks: 'the event loop turns without a rest where an address has to wait for less than a timer does',
      },
      {
        text: 'work * stalled * stalled',
        becomes: 'work * stalled',
        breaks: 'clients that take no responses go on nearly as fast as others',
      },
      {
        text: 'Math.min(this.stalledRequests, slowest)',
        becomes: 'this.stalledRequests',
        breaks: 'an address with many slow readers gets nothing else',
      },
      {
        text: 'this.isOverdrawn && held > mostHeld / this.#count',
        becomes: 'this.isOverdrawn',
        breaks: 'a client that pauses one response loses it for what others of its address leave',
      },
      {
        text: 'return this.#readers.length > 0 ? 0 : this.delayOfIndebted',
        becomes: 'return this.delayOfIndebted',
        breaks: 'clients wait for what others of their address leave untaken',
      },
      {
        text: 'this.#readers.shift() ?? this.#indebted.shift()',
        becomes: 'this.#indebted.shift() ?? this.#readers.shift()',
        breaks: 'clients wait behind those of their address that leave responses untaken',
      },
      {
        text: 'this.held > mostHeld && !this.isTrusted',
        becomes: 'this.held > mostHeld',
        breaks: 'clients of a trusted hop that are slow together lose their responses',
      },
      {
        text: 'if (address.count(-1) === 0)',
        becomes: 'if (false)',
        breaks: 'clients of many addresses fill the memory',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-turns.ts',
    tests: ['edge/client/http2-turns'],
    changes: [
      {
        text: 'if (left <= 0) return 0',
        becomes: '',
        breaks: 'whoever sends much over HTTP/2 keeps everybody else waiting until all of it is read',
      },
      {
        text: 'this.work.left = delay === 0 ? 0 : workOfTurn',
        becomes: 'this.work.left = workOfTurn',
        breaks: 'connections that come later overtake those that wait',
      },
      {
        text: 'if (this.work.left < workOfTurn) this.#plan()',
        becomes: '',
        breaks: 'every sixteenth request of anybody waits for another turn',
      },
      {
        text: 'if (left === 0) return\n      this.#leaving',
        becomes: 'this.#leaving',
        breaks: 'requests that are left behind are never ended',
      },
    ],
  },
  {
    file: 'http2/server/stream.ts',
    tests: ['http2/abuse'],
    changes: [
      {
        text: 'isSmall ? Buffer.from(bytes) : bytes',
        becomes: 'bytes',
        breaks:
          'a response of some bytes that a client does not take costs as much memory as was read with it',
      },
    ],
  },
  {
    file: 'http2/server/response-pace.ts',
    tests: ['http2/abuse'],
    changes: [
      {
        text: 'this.#isOverdrawn && sent === 0 && stream.waited > 0',
        becomes: 'this.#isOverdrawn && stream.waited > 0',
        breaks: 'clients that take their responses lose them',
      },
      {
        text: 'this.#isOverdrawn && sent === 0 && stream.waited > 0',
        becomes: 'false',
        breaks: 'an address can have any number of bytes wait for it',
      },
    ],
  },
  {
    file: 'http2/server/budget.ts',
    tests: ['edge/client/http2-offenders'],
    changes: [
      {
        text: 'this.#refill(now)\n    if (this.#left < 1) return false',
        becomes: 'if (this.#left < 1) this.#refill(now)\n    if (this.#left < 1) return false',
        breaks: 'a connection that was idle for some seconds may have twice as many requests reset at once',
      },
    ],
  },
  {
    file: 'net/socket/accepted-connection.ts',
    tests: ['net/socket/accepted-connection'],
    changes: [
      {
        text: 'if (this.#handle.reset() !== 0) this.#handle.close()',
        becomes: 'this.#handle.close()',
        breaks: 'connections of attackers that are refused stay in the system for a minute each',
      },
    ],
  },
  {
    file: 'edge/accept/tarpit.ts',
    tests: ['edge/accept/tarpit', 'wire/http2-penalties'],
    changes: [
      {
        text: '++this.#size > mostHeld',
        becomes: '++this.#size > Number.POSITIVE_INFINITY',
        breaks: 'an attacker fills descriptors and memory with connections that are held',
      },
      {
        text: 'looks-- === 0 || released.length === most',
        becomes: 'looks-- === 0',
        breaks: 'all that were held go on with their attack in one turn',
      },
      {
        text: 'queue.shift()!',
        becomes: 'queue.pop()!',
        breaks: 'who shares the address of an attacker waits behind each connection that it opens anew',
      },
      {
        text: 'dueAt: now + holdTime',
        becomes: 'dueAt: Number.POSITIVE_INFINITY',
        breaks: 'who shares the address of an attacker waits for as long as it attacks',
      },
      {
        text: 'if (queue.length > largest.length) ',
        becomes: '',
        breaks: 'one attacker has the connections of other clients refused',
      },
    ],
  },
  {
    file: 'edge/accept/penalties.ts',
    tests: ['wire/http2-penalties'],
    changes: [
      {
        text: 'const limit = this.#limits.take(peer, false, connection.descriptor, this.#plane.snapshot.client)',
        becomes: 'const limit = null as ReturnType<ConnectionLimits["take"]>',
        breaks: 'connections that are held count under no limit',
      },
      {
        text: "return this.#tarpit.has(peer) || this.offenders.refuses(peer, now) ? 'kept' : 'taken'",
        becomes: "return 'taken'",
        breaks: 'a penalty costs an attacker nothing',
      },
      {
        text: 'this.#leave(held)\n    held.connection.serve()',
        becomes: 'held.connection.serve()',
        breaks: 'an address can be locked out for good by connections that were held once',
      },
    ],
  },
  {
    file: 'edge/accept/listeners.ts',
    tests: ['wire/http2-penalties'],
    changes: [
      {
        text: '(tls || h2c === true) && proxyProtocol !== true',
        becomes: 'true',
        breaks: 'a client with a penalty waits on listeners of HTTP/1.1 too',
      },
    ],
  },
]
