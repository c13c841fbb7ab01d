// Mutations of origins, their connections and checks, and where their names lead.

import type { Mutated } from './mutation.ts'

export const origin: readonly Mutated[] = [
  {
    file: 'edge/origin/origin.ts',
    tests: ['edge/origin/origin'],
    changes: [
      {
        text: 'this.#retired?.add(this)\n',
        becomes: '',
        breaks: 'a request that comes to an origin behind a reload meets no deadline there',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'if (!options.fresh && this.#isFull())',
        becomes: 'if (this.#isFull())',
        breaks: 'a request that met a closing connection loses its turn where the queue is full',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'failure), phase, failure, dial.times)\n    this.#dialMore()',
        becomes: 'failure), phase, failure, dial.times)',
        breaks: 'nothing is dialled for who waits behind a request whose dial took too long',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'if (!options.fresh && this.#isFull())',
        becomes: 'if (false)',
        breaks: 'the queue of an origin has no end',
        tests: ['wire/queues', 'edge/origin/origin'],
      },
      {
        text: 'const most = Math.min(this.#dials.worth(this.#waiting.size), this.#most - this.#used + this.#dials.size)',
        becomes: 'const most = this.#dials.worth(this.#waiting.size)',
        breaks: 'more connections are opened than an origin may have',
        tests: ['wire/queues'],
      },
      {
        text: 'return this.#retired !== null || isOutdated',
        becomes: 'return false',
        breaks: 'connections of an origin that is configured no more stay open',
        tests: ['wire/shutdown', 'wire/dns', 'wire/pools', 'edge/origin/origin'],
      },
      {
        text: 'for (const connection of this.#open) if (now >= connection.deadline) connection.close()',
        becomes: '',
        breaks: 'idle connections stay open for ever',
        tests: ['wire/keep-alive', 'edge/origin/origin'],
      },
      {
        text: 'if (connection.holder !== null) return this.#keepPinned(connection, connection.holder)',
        becomes: '',
        breaks: 'a client is served as the one that authenticated before it',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'if (this.#isUnwanted(connection) || this.#isOwed(connection, now) || !holder.keep(connection))',
        becomes: 'if (this.#isOwed(connection, now) || !holder.keep(connection))',
        breaks: 'an authenticated connection of an origin that is configured no more stays open',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'return this.#isWantedNow && (this.#pinned >= this.#most / 2 || now - pinnedAt >= turn)',
        becomes: 'return false',
        breaks: 'clients that authenticate and come back all the time shut others out of an origin',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'if (!this.#mayDial(this.#dials.size + this.#idlePinned.size)) this.#idlePinned.closeFirst()',
        becomes: '',
        breaks: 'clients that authenticate at many origins use up the file descriptors of a process',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'for (const connection of this.#open) if (this.#idlePinned.has(connection)) connection.close()',
        becomes: '',
        breaks: 'an idle authenticated connection of an origin that is configured no more stays open',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'for (let i = this.queueLength; i > 0 && this.#idlePinned.closeEldest(now, this); i--);',
        becomes: ';',
        breaks: 'clients that authenticate and then idle keep others from an origin for a minute',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'return this.#idlePinned.closeEldest(this.#clock.monotonic(), null) && this.#mayDial(dials)',
        becomes: 'return false',
        breaks: 'clients that authenticate and then idle use up the file descriptors of a process',
      },
      {
        text: 'connection.isReused && this.#isWantedNew',
        becomes: 'false',
        breaks: 'who waits for a new connection waits for ever where all are used',
        tests: ['edge/origin/origin'],
      },
    ],
  },
  {
    file: 'http1/fields/connection-authentication.ts',
    tests: ['http1/fields/connection-authentication', 'wire/connection-authentication'],
    changes: [
      {
        text: 'const scheme = /(?:^|,)',
        becomes: 'const scheme = /(?:^)',
        breaks: 'a client is served as the one before it, where its origin offers NTLM behind Basic',
      },
      {
        text: '(value.charCodeAt(0) | 0x20) !== b || value.includes',
        becomes: '(value.charCodeAt(0) | 0x20) !== b && value.includes',
        breaks: 'a client is served as the one that sent NTLM before it',
      },
      {
        text: 'for (let i = ids.indexOf(field.authorization); i !== -1; i = ids.indexOf(field.authorization, i + 1))',
        becomes: 'for (let i = ids.indexOf(field.authorization); i !== -1; i = -1)',
        breaks: 'a client is served as the one before it, which sent Authorization twice',
      },
    ],
  },
  {
    file: 'edge/origin/idle/pinned-connections.ts',
    tests: ['edge/origin/pinned-connections', 'wire/connection-authentication'],
    changes: [
      {
        text: 'one.owner === owner && one.clientAddress === clientAddress',
        becomes: 'one.owner === owner',
        breaks: 'clients behind one proxy are served as the one of them that authenticated',
      },
      {
        text: 'one.owner === owner && one.clientAddress === clientAddress',
        becomes: 'one.clientAddress === clientAddress',
        breaks: 'a request goes to another origin than that of its route',
      },
      {
        text: 'if (this.#isClosed) return false\n',
        becomes: '',
        breaks: 'connections that are authenticated outlive their client',
      },
      {
        text: 'for (const connection of this.#idle.splice(0)) connection.close()',
        becomes: '',
        breaks: 'connections that are authenticated outlive their client',
      },
      {
        text: 'if (this.#idle.push(connection) > mostIdle) this.#idle[0]!.close()',
        becomes: 'this.#idle.push(connection)',
        breaks: 'one client of HTTP/2 keeps as many connections of an origin as it has streams',
      },
    ],
  },
  {
    file: 'edge/origin/idle/idle-pinned-connections.ts',
    tests: ['edge/origin/pinned-connections', 'wire/connection-authentication'],
    changes: [
      {
        text: 'if (since > now - grace) return false\n',
        becomes: '',
        breaks: 'no handshake of NTLM ends where an origin has all its connections',
      },
      {
        text: 'connection.deadline = now + Math.min(granted, longestIdle)',
        becomes: '',
        breaks: 'idle connections that are authenticated stay open as long as their client',
      },
    ],
  },
  {
    file: 'edge/origin/idle/idle-connections.ts',
    tests: ['edge/origin/idle-connections'],
    changes: [
      {
        text: 'return this.#connections.pop()',
        becomes: 'return this.#connections.shift()',
        breaks: 'connections that a peak has opened never grow cold and close',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'connection.grantedIdle - idleMargin',
        becomes: 'connection.grantedIdle',
        breaks: 'requests meet the closing of idle connections',
        tests: ['wire/keep-alive'],
      },
      {
        text: 'now + Math.min(granted, longestIdle)',
        becomes: 'now + granted',
        breaks: 'an origin has us keep its connections for hours',
      },
    ],
  },
  {
    file: 'edge/origin/dial/dials.ts',
    tests: ['edge/origin/dials'],
    changes: [
      {
        text: 'this.#isDown && !failure.row.isTimeout && !isOurs',
        becomes: 'this.#isDown && !isOurs',
        breaks: 'one connect timeout refuses all who wait, who had time left',
        tests: ['edge/origin/origin'],
      },
      {
        text: 'return this.#isDown ? Math.min(1, waiters) : waiters',
        becomes: 'return waiters',
        breaks: 'a dead origin is dialled for each of thousands who wait',
      },
      {
        text: 'this.#isDown ||= !isOurs',
        becomes: 'this.#isDown = true',
        breaks: 'an origin passes for down when this machine has no descriptors left',
      },
    ],
  },
  {
    file: 'edge/origin/dial/handshakes.ts',
    tests: ['edge/origin/handshakes'],
    changes: [
      {
        text: 'return isUnheard && !this.#isProven && isProvenLate',
        becomes: 'return isUnheard && isProvenLate',
        breaks: 'a reset in the middle of an upload passes for a refused certificate',
      },
      {
        text: 'this.#session = null\n    return true',
        becomes: 'return true',
        breaks: 'a session that the origin refuses is resumed for ever',
      },
    ],
  },
  {
    file: 'edge/origin/longest-wait.ts',
    tests: ['edge/origin/longest-wait'],
    changes: [
      {
        text: 'isUpload ? 2 * queue : queue',
        becomes: 'queue',
        breaks: 'an upload times out in the second of its queues',
      },
    ],
  },
  {
    file: 'edge/origin/connection-queue.ts',
    tests: ['edge/origin/origin', 'wire/queues'],
    changes: [
      {
        text: 'const line = !connection.isReused && this.#forNew.size > 0 ? this.#forNew : this.#forAny',
        becomes: 'const line = this.#forNew.size > 0 ? this.#forNew : this.#forAny',
        breaks: 'a request meets the second idle connection that is closed',
      },
      {
        text: 'if (lease.isHeld) lease.destroy()\n    waiter.crashed(bug)',
        becomes: 'waiter.crashed(bug)',
        breaks: 'a bug leaves its connection open for ever',
      },
      {
        text: 'if (place++ < dialled) continue',
        becomes: '',
        breaks: 'who a connection is being dialled for is refused',
      },
    ],
  },
  {
    file: 'edge/origin/outbound-head.ts',
    tests: ['wire/bodies'],
    changes: [
      {
        text: "isChunked ? 'Transfer-Encoding: chunked\\r\\n' : ''",
        becomes: "''",
        breaks: 'a body in chunks is sent without saying so',
      },
    ],
  },
  {
    file: 'edge/origin/origin-connection.ts',
    tests: ['edge/origin/origin-connection', 'wire/keep-alive', 'wire/origin-failures', 'wire/late-bytes'],
    changes: [
      {
        text: 'readNothingAhead(socket)',
        becomes: '',
        breaks: 'an origin that sends single bytes to a slow client makes 64 KiB of them take 27 MB',
      },
      {
        text: 'if (lease === null) return this.close()\n    if (lease.tunnel',
        becomes: 'if (lease === null) return\n    if (lease.tunnel',
        breaks: 'bytes that nobody asked for become the answer to another client',
      },
      {
        text: 'const isClean = this.#socket.readableLength === 0 && this.#socket.writableLength === 0',
        becomes: 'const isClean = this.#socket.writableLength === 0',
        breaks: 'what is left of one response is taken for the next',
        tests: ['edge/origin/origin-connection'],
      },
      {
        text: 'const isClean = this.#socket.readableLength === 0 && this.#socket.writableLength === 0',
        becomes: 'const isClean = this.#socket.readableLength === 0',
        breaks: 'what is left of one request is taken for part of the next',
        tests: ['edge/origin/origin-connection'],
      },
      {
        text: 'this.#socket.resume()\n    this.owner.returned',
        becomes: 'this.owner.returned',
        breaks: 'a request behind one whose client was slow never gets its response',
        tests: ['edge/origin/origin-connection'],
      },
      {
        text: ' || this.isOutdated) return',
        becomes: ') return',
        breaks: 'who waits is served by an address that the name has no longer',
        tests: ['edge/origin/origin-connection'],
      },
    ],
  },
  {
    file: 'edge/origin/response-reader.ts',
    tests: ['edge/origin/response-reader'],
    changes: [
      {
        text: 'if (at < bytes.length) this.mayReuse = false',
        becomes: '',
        breaks: 'a second answer to one request goes to another client',
      },
      {
        text: "this.rest = body.framing === 'none' ? restAfter(head) : 'none'",
        becomes: "this.rest = 'none'",
        breaks: 'the body that a HEAD must not have is the answer to another client',
      },
      {
        text: "head.keepAlive && body.framing !== 'close' && !isEarly",
        becomes: "head.keepAlive && body.framing !== 'close'",
        breaks: 'the rest of an upload is read as the next request of another client',
      },
      {
        text: "if (body.framing === 'none' && bytes.length > head.end && user.method !== 'HEAD')",
        becomes: 'if (false)',
        breaks: 'the body of a 204 is the answer to another client',
      },
      {
        text: "if (end - start > largestHead) return this.#fail('GH_HEAD_TOO_LARGE')",
        becomes: '',
        breaks: 'an origin sends a head of any size',
      },
      {
        text: "if (rest.length > largestHead) return this.#fail('GH_HEAD_TOO_LARGE')",
        becomes: '',
        breaks: 'an origin fills the memory with a head that never ends',
      },
      {
        text: "!user.wantsUpgrade || head.upgrade?.toLowerCase() !== 'websocket'",
        becomes: '!user.wantsUpgrade',
        breaks: 'an origin switches to another protocol than was asked for',
      },
      {
        text: "if (body.faulty) return this.#fail('GH_BAD_FRAMING')",
        becomes: 'if (body.faulty) return',
        breaks: 'a broken chunk leaves the client waiting',
      },
    ],
  },
  {
    file: 'edge/origin/dial/dial.ts',
    tests: ['wire/tls-origin', 'wire/dns'],
    changes: [
      {
        text: 'rejectUnauthorized: verify,',
        becomes: 'rejectUnauthorized: false,',
        breaks: 'certificates of origins are not verified',
        tests: ['wire/tls-origin'],
      },
      {
        text: 'if (found !== null) return fault(found)',
        becomes: '',
        breaks: 'a name leads to the gateway itself, or into the private network',
        tests: ['wire/dns', 'wire/guards', 'wire/origin-failures', 'edge/resolver/address-book'],
      },
      {
        text: "if (this.#phase === 'connect') this.#giveUpAddress(failure)",
        becomes: 'if (false) this.#giveUpAddress(failure)',
        breaks: 'an address that refuses fails a request although another one works',
        tests: ['wire/dns'],
      },
      {
        text: 'const name = serverName ?? (isIP(config.host) === 0 ? config.host : null)',
        becomes: 'const name = serverName',
        breaks: 'origins that share an address show the wrong certificate',
        tests: ['wire/tls-origin'],
      },
    ],
  },
  {
    file: 'edge/origin/health/health-checker.ts',
    tests: ['edge/origin/health-checker'],
    changes: [
      {
        text: 'this.#contrary = isGood === this.#isUp ? 0 : this.#contrary + 1',
        becomes: 'this.#contrary = isGood === this.#isUp ? this.#contrary : this.#contrary + 1',
        breaks: 'bad checks far apart add up until a sound origin is taken out',
      },
      {
        text: 'outcome.status >= least && outcome.status <= most',
        becomes: 'outcome.status >= least',
        breaks: 'an origin that answers 503 to its checks is up',
      },
      {
        text: 'this.#contrary >= (isGood ? healthy : unhealthy)',
        becomes: 'this.#contrary >= unhealthy',
        breaks: 'an origin is back after fewer good checks than are set',
      },
      {
        text: 'if (signal.aborted) return\n    const interval',
        becomes: 'const interval',
        breaks: 'a check that was ended tells of an origin that is configured no more',
      },
      {
        text: 'this.#isUp = predecessor.#isUp',
        becomes: '',
        breaks: 'an origin that is down is up for a moment after each reload',
      },
    ],
  },
  {
    file: 'edge/origin/health/health-check.ts',
    tests: ['edge/origin/health-checker'],
    changes: [
      {
        text: 'const fault = isIP(origin.host) === 0 ? null : means.guard.faultOf(origin.host, origin)',
        becomes: 'const fault = null as string | null',
        breaks: 'checks go where no request may go',
      },
      {
        text: 'if (length > largestBody) request.destroy()',
        becomes: '',
        breaks: 'a check reads a body without end',
      },
      {
        text: 'const allowed = answer.addresses.filter((_, i) => faults[i] === null)',
        becomes: 'const allowed = answer.addresses',
        breaks: 'checks of a name go where no request may go',
      },
    ],
  },
  {
    file: 'edge/resolver/address-guard.ts',
    tests: ['wire/guards', 'wire/dns', 'wire/origin-failures', 'edge/origin/health-checker'],
    changes: [
      {
        text: "if (proxy === null && transport.addresses === 'public' && !isPublic(address))",
        becomes: 'if (false)',
        breaks: 'a name of a stranger leads into the private network',
      },
      {
        text: "if (isOwn(address, proxy?.port ?? port, this.ownEndpoints)) return 'GH_OWN_ADDRESS'",
        becomes: '',
        breaks: 'a gateway asks itself in a circle',
      },
    ],
  },
  {
    file: 'edge/resolver/public-address.ts',
    tests: ['edge/resolver/public-address'],
    changes: [
      {
        text: "'169.254.0.0/16',",
        becomes: '',
        breaks: 'a name leads to the metadata service of a cloud',
      },
      {
        text: 'if (canonical === null) return false\n  if (isIPv4',
        becomes: 'if (canonical === null) return true\n  if (isIPv4',
        breaks: 'what is no address counts as public',
      },
      {
        text: "'100.64.0.0/10', // shared by carriers, RFC 6598",
        becomes: '',
        breaks: 'addresses behind a carrier count as public',
      },
      {
        text: "'2001::/23', // includes Teredo, which contains an IPv4 address",
        becomes: '',
        breaks: 'Teredo addresses count as public',
      },
    ],
  },
  {
    file: 'edge/resolver/own-addresses.ts',
    tests: ['edge/resolver/own-addresses'],
    changes: [
      {
        text: 'const asked = nowhere[canonical] ?? canonical',
        becomes: 'const asked = canonical',
        breaks: '0.0.0.0 leads back to the gateway',
      },
      {
        text: "if (bound === '::' || bound === null) return isLocal(asked)",
        becomes: "if (bound === '::') return isLocal(asked)",
        breaks: 'a listener that is named leads back to the gateway',
      },
    ],
  },
  {
    file: 'edge/resolver/name-lookup.ts',
    tests: ['edge/resolver/name-lookup'],
    changes: [
      {
        text: 'if (last?.failure && this.#clock.monotonic() - last.at < remembered) return last.failure',
        becomes: '',
        breaks: 'each request for a dead name takes a thread for seconds',
      },
      {
        text: "failure.way === 'name_unanswered' && !last?.failure",
        becomes: 'false',
        breaks: 'the second look-up after a lost packet is told of the first',
      },
      {
        text: 'if (this.#outcomes.size > mostNames) this.#outcomes.delete(this.#outcomes.keys().next().value!)',
        becomes: '',
        breaks: 'names that are asked for once stay in memory',
      },
      {
        text: 'if (joined !== undefined) return joined',
        becomes: '',
        breaks: 'a crowd makes as many look-ups',
      },
    ],
  },
  {
    file: 'edge/resolver/address-book.ts',
    tests: ['edge/resolver/address-book', 'wire/dns'],
    changes: [
      {
        text: 'if (now >= this.#endsAt) this.#replace(none)\n    else if',
        becomes: 'if',
        breaks: 'addresses of a name that vanished are used for ever',
      },
      {
        text: "if (failure.way === 'name_vanished')",
        becomes: 'if (true)',
        breaks: 'a DNS server that is away takes away the addresses',
      },
      {
        text: 'this.#failed.clear()',
        becomes: '',
        breaks: 'an address that failed once stays the last for ever',
      },
    ],
  },
  {
    file: 'edge/resolver/lookup-queue.ts',
    tests: ['edge/resolver/name-lookup'],
    changes: [
      {
        text: "(standing !== 'failed' || this.#failed === 0)",
        becomes: 'true',
        breaks: 'names that are dead keep those that work from being found',
      },
    ],
  },
]
