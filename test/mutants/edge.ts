// Mutations of the story of a request, the connections of clients, and the limits on the way.

import type { Mutated } from './mutation.ts'

export const edge: readonly Mutated[] = [
  {
    file: 'edge/resolver/own-addresses.ts',
    tests: ['edge/credentials', 'edge/forward/outbound-request'],
    changes: [
      {
        text: ' && isOwn(address, port, [listener])',
        becomes: '',
        breaks:
          'any origin on the port of the side port gets tokens of ours, and can pretend to be a client of it',
      },
    ],
  },
  {
    file: 'edge/steps/preview.ts',
    tests: ['wire/previews'],
    changes: [
      {
        text: "permits(token, 'Custom Errors Read', account) ? show(x) : nothingHere",
        becomes: 'show(x)',
        breaks: 'any token shows previews that are for operators',
      },
      {
        text: "if (typeof token === 'string') return nothingHere",
        becomes: "if (typeof token === 'string') return show(x)",
        breaks: 'a token that is not valid shows previews that are for operators',
      },
      {
        text: "x.isPreview = refusal.error !== 'not_found'",
        becomes: '',
        breaks: 'strangers make errors of the site by previews',
      },
    ],
  },
  {
    file: 'edge/exchange/gateway-credentials.ts',
    tests: ['wire/credentials', 'edge/credentials'],
    changes: [
      {
        text: 'return mayReachSidePort(x) ? null : refuseCredential(x, place)',
        becomes: 'return null',
        breaks: 'the origin of a site gets a token of ours',
      },
      {
        text: 'isSidePort(x.plane.sidePort, address, x.origin!.config.port)',
        becomes: 'true',
        breaks: 'a name that stands for another machine gets a token of ours',
      },
      {
        text: 'if (isIP(host) !== 0) return isSidePort(sidePort, host, port)',
        becomes: '',
        breaks: 'an origin at the port of the side port is connected to for a token of ours',
      },
      {
        text: 'route!.pool.members.every(',
        becomes: 'route!.pool.members.some(',
        breaks: 'an origin beside the side port may get a token of ours',
      },
      {
        text: 'fields[i + 1] !== before[i + 1] || fields[i] !== before[i]',
        becomes: 'fields[i] !== before[i]',
        breaks: 'a token in a field that had another value before reaches an origin',
        tests: ['wire/credentials'],
      },
      {
        text: 'if (last.searchedIds !== head.ids) search(head, last)',
        becomes: 'if (last.searchedIds === null) search(head, last)',
        breaks: 'only the first request of a connection is looked at',
        tests: ['wire/credentials'],
      },
    ],
  },
  {
    file: 'edge/forward/sending.ts',
    tests: ['wire/credentials', 'wire/ai-hosts'],
    changes: [
      {
        text: 'return trailers === null ? null : withoutOurs(trailers)',
        becomes: 'return trailers',
        breaks: 'a token of ours behind a body reaches an origin',
      },
    ],
  },
  {
    file: 'edge/forward/follow-redirect.ts',
    tests: ['wire/credentials'],
    changes: [
      {
        text: '!holdsOurs(request.target) &&',
        becomes: '',
        breaks: 'a redirect brings a token of ours to an origin',
      },
    ],
  },
  {
    file: 'edge/forward/attempt.ts',
    tests: ['wire/credentials'],
    changes: [
      {
        text: 'if (refusal === null) this.#send(lease)\n    else',
        becomes: 'this.#send(lease)\n    if (false)',
        breaks: 'a name that stands for another machine gets a token of ours',
      },
    ],
  },
  {
    file: 'edge/steps/secure.ts',
    tests: ['edge/secure'],
    changes: [
      {
        text: 'x.snapshot.publicPort ?? x.plane.securePort',
        becomes: 'x.plane.securePort',
        breaks: 'a redirect leads to a port that clients cannot reach',
      },
    ],
  },
  {
    file: 'edge/steps/secure.ts',
    tests: ['wire/http2'],
    changes: [
      {
        text: 'if (zone !== null && !isListed(tls, zone.config.tls)) return false',
        becomes: '',
        breaks: 'a browser is refused that knows a suite which the zone lists',
      },
    ],
  },
  {
    file: 'edge/exchange/client-certificate.ts',
    tests: ['edge/client-certificate'],
    changes: [
      {
        text: 'if (tls === null) return isRequired ? refusals.plain : null',
        becomes: 'if (tls === null) return null',
        breaks: 'plain HTTP reaches zones that require a certificate',
      },
      {
        text: 'if (tls.trust !== trust) {',
        becomes: 'if (false) {',
        breaks: 'a certificate that another zone accepted is good for all',
      },
      {
        text: 'if (certificate.fault !== null) return refuseFor(certificate.fault, certificate.cause)',
        becomes: '',
        breaks: 'any certificate will do',
      },
      {
        text: 'return fault === null && notAfter >= x.plane.clock.now()',
        becomes: 'return fault === null',
        breaks: 'a connection outlives its certificate',
      },
    ],
  },
  {
    file: 'certificates/certificates.ts',
    tests: ['edge/fips'],
    changes: [
      {
        text: ', sessionIdContext: fipsIdOf(options)',
        becomes: '',
        breaks: 'keys that are not approved live on in resumed sessions',
      },
    ],
  },
  {
    file: 'tls/client-certificate.ts',
    tests: ['edge/client-certificate'],
    changes: [
      {
        text: 'return one.checkIssued(issuer) && one.verify(issuer.publicKey)',
        becomes: 'return one.checkIssued(issuer)',
        breaks: 'a client passes a certificate of its own making for that of its issuer',
      },
      {
        text: '|| !isIssued(one, issuer)) return []',
        becomes: ') return chain',
        breaks: 'origins get certificates that lead to no authority',
      },
    ],
  },
  {
    file: 'certificates/client-trust.ts',
    tests: ['edge/client-certificate'],
    changes: [
      {
        text: 'secureOptions: (options.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET,',
        becomes: '',
        breaks: 'a session replaces a certificate that was revoked since',
      },
      {
        text: '...(revocationLists === null ? {} : { crl: revocationLists }),',
        becomes: '',
        breaks: 'revoked certificates are accepted',
      },
    ],
  },
  {
    file: 'edge/serve/serve.ts',
    tests: ['edge/serve'],
    changes: [
      {
        text: "if (x.stage === 'none') goOn(x, settled, lines, next)",
        becomes: 'goOn(x, settled, lines, next)',
        breaks: 'a request goes to its origin although its client left while the limits were asked',
      },
      {
        text: "if (x.stage === 'none') goOn(x, settled, lines, next)",
        becomes: "if (x.stage === 'none') goOn(x, null, lines, next)",
        breaks: 'a request that is refused after a wait goes on',
      },
      {
        text: 'bug => answerBug(x, bug),',
        becomes: '() => {},',
        breaks: 'a request whose step fails while it waits gets no answer',
      },
    ],
  },
  {
    file: 'edge/explain/rehearsal.ts',
    tests: ['edge/explain/rehearsal'],
    changes: [
      {
        text: "if (zone !== null && zone.config.name !== asked.zone) return 'zone'",
        becomes: '',
        breaks: 'who may see one zone learns the rules of the others',
      },
      {
        text: "ai !== null && ai.target.account !== asked.account ? 'account' : null",
        becomes: 'null',
        breaks: 'who may see one account learns the gateways of the others',
      },
      {
        text: 'bans: bans.still',
        becomes: 'bans',
        breaks: 'questions ban clients',
      },
      {
        text: '      tallies: unheard,',
        becomes: '',
        breaks: 'questions count as hits of rules',
      },
    ],
  },
  {
    file: 'edge/explain/forward.ts',
    tests: ['edge/explain/rehearsal'],
    changes: [
      {
        text: 'value: isHarmless(x, key, value) ? value : null',
        becomes: 'value',
        breaks: 'keys of origins are shown to who may see a zone',
      },
    ],
  },
  {
    file: 'admin/zones/explain.ts',
    tests: ['admin/zones/explain'],
    changes: [
      {
        text: "...(!may('Origins Read') && { pool: null, forward: null }),",
        becomes: '',
        breaks: 'a token that may see access rules sees origins too',
      },
      {
        text: '(!isSeen(kind) || (kind',
        becomes: '((kind',
        breaks: 'a token that may see access rules sees how much others use',
      },
      {
        text: "content: may('Custom Errors Read') ? response.content : null",
        becomes: 'content: response.content',
        breaks: 'a token that may see access rules sees error rules too',
      },
    ],
  },
  {
    file: 'edge/client/exchanges.ts',
    tests: ['edge/client/exchanges'],
    changes: [
      {
        text: 'head.host !== this.#host && !this.#takeHost(head.host)',
        becomes: 'this.#host === null && !this.#takeHost(head.host)',
        breaks: 'later requests of a connection go by the zone of the first',
        tests: ['wire/one-connection'],
      },
      {
        text: 'if (this.#plane.snapshot !== this.#trustedBy) this.#takeTrust()',
        becomes: '',
        breaks: 'a reload of the trusted proxies means nothing to connections that are open',
      },
      {
        text: 'if (++this.count >= x.snapshot.limits.requestsPerConnection',
        becomes: 'if (++this.count > x.snapshot.limits.requestsPerConnection',
        breaks: 'a connection serves one request more than it may',
      },
    ],
  },
  {
    file: 'edge/client/request-reader.ts',
    tests: ['edge/client/request-reader'],
    changes: [
      {
        text: 'if (x.bytesIn > x.bodyLimit) return this.#refuseBody(x, tooLarge(x))',
        becomes: '',
        breaks: 'a body without a length has no limit',
      },
      {
        text: 'return this.pending !== null && this.#socket.writableNeedDrain',
        becomes: 'return false',
        breaks: 'a client that pipelines and reads nothing fills the memory with responses',
        tests: ['edge/client/request-reader', 'wire/slow-readers', 'wire/pipelining', 'wire/late-bytes'],
      },
      {
        text: 'if (bytes.length > readAhead) this.#socket.pause()',
        becomes: '',
        breaks: 'a client fills the memory with requests that are not served yet',
      },
      {
        text: '(this.#taker.exchange === null || runs === mostRuns)',
        becomes: 'false',
        breaks: 'one packet of tiny requests keeps everybody else waiting',
      },
      {
        text: 'if (!this.#lifetime.isOpen) return this.#lifetime.receivedBehind(bytes.length)\n',
        becomes: '',
        breaks: 'a connection that closes keeps in memory what still comes',
        tests: ['edge/client/request-reader', 'wire/guards', 'wire/limits'],
      },
      {
        text: 'if (!this.isEnded || this.isResting) return false',
        becomes: 'if (!this.isEnded) return false',
        breaks: 'a client that has sent its last loses the requests that are still to be read',
        tests: ['wire/pipelining', 'wire/bodies', 'wire/client-leaves'],
      },
    ],
  },
  {
    file: 'edge/client/lifetime.ts',
    tests: ['edge/client/lifetime'],
    changes: [
      {
        text: 'this.#next = -1\n    this.deadline = Number.POSITIVE_INFINITY',
        becomes: 'this.deadline = Number.POSITIVE_INFINITY',
        breaks: 'a request is cut off since the one before it was read late',
      },
      {
        text: 'this.deadline = coarseNow + this.#patience',
        becomes: 'this.deadline = coarseNow + ms',
        breaks: 'a slow client is cut off in the middle of a response',
      },
      {
        text: 'if (this.#lingeringLeft < 0 || this.#plane.isDraining) return',
        becomes: '',
        breaks: 'a client that sends without end behind a refusal is read all along, and holds up a shutdown',
      },
      {
        text: 'Math.min(this.#plane.coarseNow + linger, this.#lingersUntil)',
        becomes: 'this.#plane.coarseNow + linger',
        breaks: 'a client that goes on sending behind a refusal keeps its connection for ever',
      },
      {
        text: 'isDraining ? Math.min(lastRequest, keepAlive) : keepAlive',
        becomes: 'keepAlive',
        breaks: 'idle clients hold up a shutdown',
      },
      {
        text: 'if (x.route === null || x.refusal !== null) return linger',
        becomes: '',
        breaks: 'clients that do not read an error keep their connections',
        tests: ['edge/client/lifetime', 'wire/timeouts', 'wire/slow-readers'],
      },
    ],
  },
  {
    file: 'edge/client/pace/client-pace.ts',
    tests: ['edge/client/client-pace'],
    changes: [
      {
        text: "if (x.requestBody.done || x.stage !== 'none') return null",
        becomes: 'if (x.requestBody.done) return null',
        breaks: 'an upload whose response has begun is cut off for its pauses',
      },
      {
        text: 'if (socket.writableLength === 0) this.#reading = null',
        becomes: '',
        breaks: 'a client that has read all is cut off for what it was slow with before',
      },
    ],
  },
  {
    file: 'edge/client/connection.ts',
    tests: ['edge/client/connection', 'wire/one-connection'],
    changes: [
      {
        text: 'this.pinned?.close()',
        becomes: '',
        breaks: 'authenticated connections outlive their client',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'readNothingAhead(socket)',
        becomes: '',
        breaks: 'a client that sends single bytes while its body has to wait makes 64 KiB of them take 27 MB',
      },
      {
        text: 'else if (this.exchange === null && !this.#reader.isResting) this.#close()',
        becomes: '',
        breaks: 'a client that reads its last response slowly holds up a shutdown',
        tests: ['edge/client/connection'],
      },
      {
        text: 'else if (this.exchange === null && !this.#reader.isResting)',
        becomes: 'else if (this.exchange === null)',
        breaks: 'a shutdown drops requests that have come behind one that was refused',
        tests: ['edge/client/connection'],
      },
      {
        text: 'if (x.requestBody.done) this.#halfClosed?.provoke(x)',
        becomes: '',
        breaks: 'a client that left behind two requests keeps the origin at work for the second',
        tests: ['wire/half-closed'],
      },
      {
        text: 'else if (this.#reader.pending === null) this.abandon(x)',
        becomes: 'else this.abandon(x)',
        breaks: 'a client that half-closes while a step waits loses its request, whose body is here',
        tests: ['edge/serve'],
      },
      {
        text: 'if (gently) this.#close()\n    else this.#reset()',
        becomes: 'reset(this.#socket)',
        breaks: 'the last event of a stream that fails is lost to a reset',
        tests: ['wire/event-streams'],
      },
      {
        text: 'x.upstream?.abort()\n    x.keepAlive = false\n    answer(x, refusal)',
        becomes: 'x.keepAlive = false\n    answer(x, refusal)',
        breaks: 'an origin gets half a body and waits for the rest',
        tests: ['wire/slow-uploads', 'wire/bodies'],
      },
      {
        text: 'x.aborted = true\n    x.upstream?.abort()',
        becomes: 'x.aborted = true',
        breaks: 'the origin works on for a client that has left',
        tests: ['wire/client-leaves'],
      },
      {
        text: 'this.#refuseSlowBody(now)\n',
        becomes: '\n',
        breaks: 'a client may send its body a byte an hour',
        tests: ['wire/slow-uploads'],
      },
      {
        text: 'if (this.exchange !== null) this.abandon(this.exchange)\n    else this.#reset()',
        becomes: '',
        breaks: 'a client that reads nothing keeps what it was sent in memory for ever',
        tests: ['wire/slow-readers'],
      },
      {
        text: 'if (this.#lifetime.isOver(now)) this.#expire()',
        becomes: '',
        breaks: 'a client that never ends its head keeps its connection',
        tests: ['wire/timeouts', 'wire/guards'],
      },
    ],
  },
  {
    file: 'edge/client/head-reader.ts',
    tests: ['edge/client/head-reader', 'wire/guards'],
    changes: [
      {
        text: "if (!mayContinue(bytes, Math.max(start, this.#scanned - 1))) return 'bad_request'",
        becomes: '',
        breaks: 'a head with a bare LF is waited for until its time is over',
      },
      {
        text: 'while (at < mostEmptyLines * 2 &&',
        becomes: 'while (',
        breaks: 'a flood of empty lines is read as one request for ever',
      },
      {
        text: 'overLimit(bytes, start, limits) ?? (',
        becomes: '(',
        breaks: 'an unfinished head of any size is kept',
        tests: ['wire/limits'],
      },
    ],
  },
  {
    file: 'edge/client/pace/body-pace.ts',
    tests: ['edge/client/body-pace'],
    changes: [
      {
        text: 'Math.min(now - this.#lookedAt, longestLook) : 0',
        becomes: 'now - this.#lookedAt : 0',
        breaks: 'a stall of the gateway counts against its clients',
      },
      {
        text: "if (this.#silent >= idle) return 'body_idle'",
        becomes: '',
        breaks: 'a client may stop in the middle of its body',
      },
      {
        text: 'if (bodyTimeout !== 0 && this.#waited >= bodyTimeout)',
        becomes: 'if (this.#waited >= bodyTimeout)',
        breaks: 'no body is accepted where no time is set',
      },
      {
        text: "this.#waited >= Math.max(this.#earned, grace) ? 'body_rate' : null",
        becomes: 'null',
        breaks: 'a body may come at any rate',
      },
    ],
  },
  {
    file: 'edge/client/pace/read-pace.ts',
    tests: ['edge/client/read-pace'],
    changes: [
      {
        text: 'this.#waited += Math.min(now - this.#lookedAt, longestLook)',
        becomes: 'this.#waited += now - this.#lookedAt',
        breaks: 'a stall of the gateway cuts off its clients',
      },
      {
        text: 'return this.#waited - this.#earned >= this.#grace(rate)',
        becomes: 'return false',
        breaks: 'a client that reads nothing is never cut off',
      },
    ],
  },
  {
    file: 'certificates/ticket-keeper.ts',
    tests: ['certificates/ticket-keeper'],
    changes: [
      {
        text: 'if (now >= startsAt + period + sessionLifetime) this.#known.delete(id)',
        becomes: '',
        breaks: 'a key of TLS sessions is accepted for ever',
      },
      {
        text: 'if (now >= startsAt + period + sessionLifetime + skew)',
        becomes: 'if (false)',
        breaks: 'whoever reads the store finds the keys of all TLS sessions ever',
      },
    ],
  },
  {
    file: 'tls/ticket-keys.ts',
    tests: ['wire/tls-clients'],
    changes: [
      {
        text: 'process.nextTick(setKey, context, this.#current)',
        becomes: '',
        breaks: 'new TLS sessions are sealed with an old key',
      },
    ],
  },
  {
    file: 'edge/accept/clients.ts',
    tests: ['edge/accept/clients'],
    changes: [
      {
        text: 'if (!this.#connections.delete(connection)) return',
        becomes: 'this.#connections.delete(connection)',
        breaks: 'a connection that made room counts as two that have ended, and more than allowed are taken',
      },
      {
        text: 'if (this.#connections.size === 0) this.#drained?.()',
        becomes: '',
        breaks: 'every shutdown takes all of its grace',
      },
    ],
  },
  {
    file: 'edge/accept/listeners.ts',
    tests: ['edge/accept/listeners'],
    changes: [
      {
        text: 'this.close()\n      throw error',
        becomes: 'throw error',
        breaks: 'a gateway that could not start takes connections that nobody serves',
      },
      {
        text: 'if (turns > 0 &&',
        becomes: 'if (true ||',
        breaks: 'a shutdown resets clients that are connecting',
      },
    ],
  },
  {
    file: 'log/log-throttle.ts',
    tests: ['edge/log-throttle'],
    changes: [
      {
        text: 'if (now < warning.quietUntil) return',
        becomes: '',
        breaks: 'a flood of refused connections is a flood of log lines',
      },
    ],
  },
  {
    file: 'edge/accept/connection-share.ts',
    tests: ['edge/accept/share', 'process/workers/share-ledger'],
    changes: [
      {
        text: 'if (count > 0) this.#entry(key).moved -= count',
        becomes: '',
        breaks: 'workers have more connections together than the limit',
      },
      {
        text: "if (++entry.age > patience) this.#settle(entry, 'late')",
        becomes: '',
        breaks: 'where the supervisor hangs, connections wait for ever',
      },
      {
        text: "if (entry.denied === 'idle' || (entry.denied === 'free' && !closing)) return false",
        becomes: '',
        breaks: 'a flood of connections beyond the limit is a flood of messages',
      },
    ],
  },
  {
    file: 'edge/accept/connection-limits.ts',
    tests: ['edge/accept/connection-limits'],
    changes: [
      {
        text: 'this.#total >= this.#share.most(everybody, connections)',
        becomes: 'this.#total >= connections',
        breaks: 'each worker takes as many connections as all may have',
        tests: ['wire/connection-limits'],
      },
      {
        text: 'this.count(key) >= this.#share.most(key, most)',
        becomes: 'this.count(key) >= most',
        breaks: 'an address has as many connections to each worker as it may have to all',
        tests: ['wire/connection-limits'],
      },
      {
        text: "if (connections !== 0 && this.#total >= this.#share.most(everybody, connections)) return 'connections'",
        becomes: '',
        breaks: 'there is no limit of connections',
      },
      {
        text: 'const key = clientKey(peer)\n    // First',
        becomes: 'const key = peer\n    // First',
        breaks: 'an IPv6 client has 2^64 addresses to connect from',
      },
      {
        text: 'return !isTrusted && most !== 0',
        becomes: 'return most !== 0',
        breaks: 'a trusted proxy has the connections of one client',
      },
      {
        text: 'if (count === 1) this.#byAddress.delete(key)\n    else this.#byAddress.set(key, count - 1)',
        becomes: '',
        breaks: 'an address that was at its limit once stays there',
      },
    ],
  },
  {
    file: 'edge/accept/connection-limits.ts',
    tests: ['wire/connection-limits'],
    changes: [
      {
        text: 'this.#total >= this.#most || ',
        becomes: '',
        breaks: 'idle clients take the last descriptors, and nobody else is served',
      },
      {
        text: 'Math.floor(this.#descriptors / 2)',
        becomes: 'this.#descriptors',
        breaks: 'clients are let in for whom there is no connection to an origin',
      },
    ],
  },
  {
    file: 'edge/accept/evictions.ts',
    tests: ['edge/accept/evictions'],
    changes: [
      {
        text: 'if (connection.isIdle && isOf',
        becomes: 'if (isOf',
        breaks: 'a flood of connections cuts off clients that are being served',
      },
      {
        text: 'else if (since > by || left-- === 0) return null',
        becomes: 'else if (left-- === 0) return null',
        breaks: 'clients that have only just come are cut off by the next ones',
      },
      {
        text: 'if (connection.hasRequested) {',
        becomes: 'if (false) {',
        breaks: 'clients that have been served go as if they had said nothing',
      },
      {
        text: 'const fewest = isSmaller ? 1 : fewestOf(this.#silent.size + this.#served.size)',
        becomes: 'const fewest = 1',
        breaks: 'honest clients that come at one time cut each other off',
      },
      {
        text: 'const mostLookedAt = 1_000',
        becomes: 'const mostLookedAt = 100',
        breaks: 'an address is refused at its limit while one of its connections is idle',
      },
      {
        text: 'if (!connection.hasGreeted) mute ??= connection',
        becomes: 'mute ??= connection',
        breaks: 'clients whose handshakes are under way go before a crowd that says nothing',
      },
      {
        text: 'networkKey(connection.peer), connection, now',
        becomes: 'clientKey(connection.peer), connection, now',
        breaks: 'whoever has a network of IPv6 has as many addresses as they like',
      },
    ],
  },
  {
    file: 'edge/accept/clients.ts',
    tests: ['wire/proxy-protocol'],
    changes: [
      {
        text: 'if (way.proxyProtocol && !this.#plane.snapshot.trusted.has(peer))',
        becomes: 'if (false)',
        breaks: 'anybody says for whom a connection is',
      },
    ],
  },
  {
    file: 'edge/client/exchanges.ts',
    tests: ['wire/proxy-protocol'],
    changes: [
      {
        text: '!this.#peer.isAnonymous && ',
        becomes: '',
        breaks: 'a client that the balancer does not know may give itself any address',
      },
    ],
  },
  {
    file: 'edge/exchange/forwarded-trust.ts',
    tests: ['edge/client/way', 'wire/forwarding-headers'],
    changes: [
      {
        text: 'return `X-Forwarded-For: ${client.peer}\\r\\nX-Forwarded-Proto: ${schemeOf(client)}',
        becomes:
          'return `X-Forwarded-For: ${appended(head.xForwardedFor, client.peer)}\\r\\nX-Forwarded-Proto: ${schemeOf(client)}',
        breaks: 'a stranger tells origins any address',
        tests: ['edge/client/way', 'wire/forwarding-headers'],
      },
      {
        text: 'case field.clientAddress:\n      return clientAddress',
        becomes: 'case field.clientAddress:\n      return value',
        breaks: 'X-Real-IP of a client behind a trusted proxy is believed',
      },
      {
        text: 'return value.startsWith(\'{\') ? `{"scheme":"${scheme}"}` : scheme',
        becomes: 'return value',
        breaks: 'X-Forwarded-Scheme says otherwise than X-Forwarded-Proto',
      },
      {
        text: "return equalsIgnoreCase(text, 'https') || equalsIgnoreCase(text, 'wss') ? 'https' : 'http'",
        becomes: 'return text as never',
        breaks: 'an origin gets whatever a client behind a trusted proxy calls a scheme',
      },
      {
        text: 'return hasOtherSpelling(outgoing, name) ? null : value',
        becomes: 'return value',
        breaks: 'a client behind a trusted proxy spells a certificate otherwise',
      },
      {
        text: "`X-Forwarded-For: ${[...way.hops].reverse().join(', ')}\\r\\n`",
        becomes: '`X-Forwarded-For: ${head.xForwardedFor}, ${client.peer}\\r\\n`',
        breaks: 'readers of the first member believe a stranger',
      },
      {
        text: 'if (hopByHop?.has(name.toLowerCase())) continue\n    const id = ids[i]',
        becomes: 'const id = ids[i]',
        breaks: 'a field that Connection names goes on',
        tests: ['edge/forward/outbound-request'],
      },
    ],
  },
  {
    file: 'edge/snapshot/gather-limit.ts',
    tests: ['edge/gather-limit'],
    changes: [
      {
        text: ' / processes',
        becomes: '',
        breaks: 'the workers together fill the memory of a container with bodies',
      },
      {
        text: 'Math.min(most, affordable)',
        becomes: 'most',
        breaks: 'bodies of AI calls take memory that a small container does not have',
        tests: ['edge/gather-limit', 'wire/ai-memory'],
      },
    ],
  },
  {
    file: 'edge/exchange/gather-body.ts',
    tests: ['wire/ai-rest', 'wire/slow-uploads'],
    changes: [
      {
        text: 'this.#stop(noRoom)',
        becomes: '',
        breaks: 'bodies of AI calls fill the memory',
        tests: ['edge/client/gather-body'],
      },
      {
        text: 'x.plane.metrics.ai.bodyBytes.value -= ai.gathered',
        becomes: '',
        breaks: 'after so many calls none is accepted any more',
        tests: ['edge/client/gather-body'],
      },
      {
        text: "this.#stop(refuse('request_timeout'))",
        becomes: '',
        breaks: 'a body of an AI call may take for ever',
        tests: ['edge/client/gather-body'],
      },
    ],
  },
  {
    file: 'edge/client/discard-body.ts',
    tests: ['wire/ai-authentication', 'wire/ai-keys'],
    changes: [
      {
        text: 'if (contentLength <= 0 || contentLength > worthReading || expect !== null) return false',
        becomes: 'if (contentLength <= 0) return false',
        breaks: 'a refused client is read to the end of any body',
        tests: ['edge/client/discard-body'],
      },
      {
        text: 'this.#x.client.pauseBody()\n    this.#then()',
        becomes: '',
        breaks: 'a refused client that never sends its body gets no answer',
        tests: ['edge/client/discard-body'],
      },
    ],
  },
  {
    file: 'edge/client/salvaged-head.ts',
    tests: ['edge/client/wire'],
    changes: [
      {
        text: 'head.keepAlive = false',
        becomes: '',
        breaks: 'what follows bytes that are no HTTP is read as a request',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-offenders.ts',
    tests: ['edge/client/http2-offenders', 'wire/http2-penalties'],
    changes: [
      {
        text: 'offence !== undefined && !offence.admissions.spend(now)',
        becomes: 'offence !== undefined',
        breaks: 'one client locks out all others behind its address',
      },
      {
        text: 'if (penalty > 0) this.penalized(peer)',
        becomes: '',
        breaks: 'an attacker goes on with connections that it opened for later',
      },
      {
        text: 'new Budgets(now, partOfThatOfOthers)',
        becomes: 'undefined',
        breaks: 'each new connection of an attacker may do as much as the first',
      },
      {
        text: 'if (penalty > 0) penalize(offence, now, penalty)',
        becomes: '',
        breaks: 'a flood of connections that each break a limit costs a handshake each',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-stream.ts',
    tests: ['wire/http2'],
    changes: [
      {
        text: 'else this.#session.reset(this.stream, errorCode.internal)',
        becomes: 'else this.#session.end(this.stream, null)',
        breaks: 'a client takes half a response for a whole one',
      },
      {
        text: ".replace(acceptLine, '')",
        becomes: '',
        breaks: 'a client of HTTP/2 gets a key that it never asked for',
      },
      {
        text: 'this.exchange?.upstream?.flushBody()',
        becomes: '',
        breaks: 'client and origin wait for each other in the middle of a body',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-requests.ts',
    tests: ['wire/http2'],
    changes: [
      {
        text: 'if (x.bytesIn > x.bodyLimit) return refuseBody(x, tooLarge(x))',
        becomes: '',
        breaks: 'a body without a length may have any',
      },
    ],
  },
  {
    file: 'edge/client/http2/http2-connection.ts',
    tests: ['wire/http2'],
    changes: [
      {
        text: 'if (this.session.requestCount >= mostRequests) this.#shutDown()',
        becomes: '',
        breaks: 'a connection of HTTP/2 lasts for ever',
      },
    ],
  },
  {
    file: 'edge/forward/attempt.ts',
    tests: ['wire/http2'],
    changes: [
      {
        text: "if (this.wantsUpgrade && this.#x.head.version === '2' && head.status < 300)",
        becomes: 'if (false)',
        breaks: 'a client takes an origin that is no WebSocket for one',
      },
      {
        text: "this.#x.head.version !== '2' || acceptsKey(this.#x.outgoing, head)",
        becomes: 'true',
        breaks: 'an origin that has not read the handshake passes for a WebSocket',
      },
    ],
  },
  {
    file: 'edge/client/http1-response.ts',
    tests: ['wire/one-connection', 'wire/keep-alive', 'wire/http-1.0'],
    changes: [
      {
        text: 'if (!x.requestBody.done) x.keepAlive = false',
        becomes: '',
        breaks: 'what is left of a body is read as the next request',
      },
      {
        text: 'x.keepAlive = false\n  x.responseFraming',
        becomes: 'x.responseFraming',
        breaks: 'a client of HTTP/1.0 waits for the end of an answer for ever',
        tests: ['wire/http-1.0'],
      },
    ],
  },
  {
    file: 'edge/exchange/deliver.ts',
    tests: ['wire/one-connection'],
    changes: [
      {
        text: "const body = x.head.method === 'HEAD' ? '' : whole",
        becomes: 'const body = whole',
        breaks: 'the body of an answer to HEAD is taken for the next answer',
      },
      {
        text: "const mayAddEvent = x.eventStream !== null && !x.eventStream.isEncoded && x.responseFraming !== 'length'",
        becomes: "const mayAddEvent = x.eventStream !== null && x.responseFraming !== 'length'",
        breaks: 'plain text is put behind a compressed stream',
        tests: ['edge/answer', 'wire/event-streams'],
      },
      {
        text: 'mayAddEvent && x.aiCaller !== null',
        becomes: 'mayAddEvent',
        breaks: 'a cut event stream of a site looks whole',
        tests: ['wire/event-streams'],
      },
      {
        text: 'x.client.cutOff(x, mayAddEvent)',
        becomes: 'x.client.cutOff(x, true)',
        breaks: 'a cut answer of unknown length looks whole',
        tests: ['wire/origin-dies', 'edge/answer'],
      },
    ],
  },
  {
    file: 'edge/steps/locate.ts',
    tests: ['edge/locate'],
    changes: [
      {
        text: 'if (zone.fault !== null) return refuse(zone.fault)',
        becomes: '',
        breaks: 'a zone whose rules do not compile is open to all',
        tests: [
          'wire/custom-errors',
          'wire/access',
          'edge/zone-settings',
          'journeys/zone-settings',
          'wire/guards',
        ],
      },
      {
        text: 'if (zone.config.paused) return paused',
        becomes: '',
        breaks: 'a paused zone is served',
      },
      {
        text: "if (route === 'ambiguous') return refuseAmbiguousPath(x)",
        becomes: '',
        breaks: 'a path that leads to two routes takes either',
      },
    ],
  },
  {
    file: 'edge/steps/examine.ts',
    tests: ['edge/examine'],
    changes: [
      {
        text: "if (method === 'TRACE') return refuse('method_not_allowed')",
        becomes: '',
        breaks: 'TRACE shows a client what the gateway adds',
        tests: ['edge/examine'],
      },
      {
        text: "x.keepAlive = false\n    return refuse('http_connect_not_supported')",
        becomes: "return refuse('http_connect_not_supported')",
        breaks: 'what follows CONNECT is read as a request',
        tests: ['edge/examine'],
      },
      {
        text: "if (x.client.isTrusted && x.way === null) return refuse('bad_request')",
        becomes: '',
        breaks: 'a Forwarded that nobody can read passes',
        tests: ['wire/forwarding-headers'],
      },
      {
        text: "if (head.method !== 'GET' || !requestBody.done || head.upgrade!.length > longestOffer) return false",
        becomes: "if (head.method !== 'GET' || head.upgrade!.length > longestOffer) return false",
        breaks: 'a request with a body becomes a tunnel',
        tests: ['wire/websocket', 'wire/upgrades'],
      },
    ],
  },
  {
    file: 'edge/exchange/bounds.ts',
    tests: ['edge/bound'],
    changes: [
      {
        text: 'if (x.head.contentLength > x.bodyLimit) return tooLarge(x)',
        becomes: '',
        breaks: 'a body that says it is too large is read',
      },
      {
        text: "return x.head.cdnLoop !== null && passedHere(x) ? refuse('dns_loop') : null",
        becomes: 'return null',
        breaks: 'two gateways pass a request on in a circle',
        tests: ['edge/bound'],
      },
      {
        text: "const hops = x.head.cdnLoop!.replace(/;[^,]*/g, '')",
        becomes: 'const hops = x.head.cdnLoop!',
        breaks: 'a hop with parameters is not known as this gateway',
      },
    ],
  },
  {
    file: 'edge/steps/admit.ts',
    tests: ['wire/access', 'wire/access-bans'],
    changes: [
      {
        text: 'const verdict = ofAll.decide(request) ?? ofZone?.decide(request) ?? null',
        becomes: 'const verdict = ofAll.decide(request)',
        breaks: 'the access rules of a zone mean nothing',
      },
      {
        text: 'const verdict = ofAll.decide(request) ?? ofZone?.decide(request) ?? null',
        becomes: 'const verdict = ofZone?.decide(request) ?? ofAll.decide(request) ?? null',
        breaks: 'a zone lets in whom the operator denies everywhere',
      },
      {
        text: 'if ((ofAll.readsPath || ofZone?.readsPath) && x.paths === null)',
        becomes: 'if (ofAll.readsPath && x.paths === null)',
        breaks: 'a path that nobody can read slips by the rules of a zone',
      },
      {
        text: 'x.zone?.access.note(x.clientAddress)',
        becomes: '',
        breaks: 'refusals lead to no ban in their zone',
        tests: ['wire/access-bans'],
      },
      {
        text: "errorRows[error].category === 'access_denied' && !heldAgainstNobody.has(error)",
        becomes: "errorRows[error].category === 'access_denied'",
        breaks: 'who is banned, or sent by another page, is banned for longer',
        tests: ['wire/access-bans'],
      },
    ],
  },
  {
    file: 'edge/meter/meter.ts',
    tests: ['edge/meter/meter', 'wire/rate-limits'],
    changes: [
      {
        text: "if (over.rule.error === 'rate_limited') noteRefusal(x)",
        becomes: '',
        breaks: 'who runs into limits again and again is never banned',
        tests: ['edge/meter/meter'],
      },
      {
        text: 'x.plane.limiter.giveBack(rule.limit, key)',
        becomes: '',
        breaks: 'what one limit refuses, the others count all the same',
      },
      {
        text: 'return answer !== false',
        becomes: 'return answer === true',
        breaks: 'who makes the condition of a limit fail is not counted',
        tests: ['wire/rate-limits'],
      },
      {
        text: 'for (const [i, { isAllowed }] of settled.entries()) if (isAllowed) limiter.giveBack(limit, keys[i]!)',
        becomes: '',
        breaks: 'a path in two readings is counted for both where one refuses it',
      },
      {
        text: 'return !spent.isAllowed && rule.error !== null',
        becomes: 'return !spent.isAllowed',
        breaks: 'a rule that only logs blocks',
      },
      {
        text: 'if (asked >= mostAsked) return i + 1',
        becomes: '',
        breaks: 'a request near a hundred limits holds up all others',
        tests: ['edge/meter/meter'],
      },
      {
        text: 'if (a.isAllowed !== b.isAllowed) return a.isAllowed ? b : a',
        becomes: 'if (a.isAllowed !== b.isAllowed) return a.isAllowed ? a : b',
        breaks: 'one reading of a path that fits is enough',
      },
    ],
  },
  {
    file: 'edge/meter/limit-key.ts',
    tests: ['edge/meter/key'],
    changes: [
      {
        text: "return marked('field ', fieldOf(x, part.name)) ?? clientKey(x.clientAddress)",
        becomes: "return marked('', fieldOf(x, part.name)) ?? clientKey(x.clientAddress)",
        breaks: 'who sends the address of another in a field uses up the limit of that',
      },
      {
        text: "return marked('token ', tokenOf(x)) ?? clientKey(x.clientAddress)",
        becomes: "return marked('', tokenOf(x)) ?? clientKey(x.clientAddress)",
        breaks: 'who sends the address of another as a token uses up the limit of that',
      },
      {
        text: 'if (found !== null) return repeated',
        becomes: '',
        breaks: 'a field that comes twice makes a client two',
        tests: ['edge/meter/key', 'wire/rate-limits'],
      },
      {
        text: "return typeof field === 'string' ? token68Of(field) : null",
        becomes: "return typeof field === 'string' ? field : null",
        breaks: 'any spelling of a token is another client',
      },
      {
        text: 'for (const part of parts) key += `${knownPart(x, part)}\\n`\n  return key',
        becomes: 'for (const part of parts) key += knownPart(x, part)\n  return key',
        breaks: 'two clients meet under one key by where their parts are cut',
      },
      {
        text: 'return found.length > longest ?',
        becomes: 'return found.length > Number.POSITIVE_INFINITY ?',
        breaks: 'keys of the size of a head fill memory and store',
      },
      {
        text: "if (paths === null || paths.length === 1 || !parts.some(({ by }) => by === 'path')) return none",
        becomes: 'return none',
        breaks: 'a limit by path is escaped by another spelling',
        tests: ['edge/meter/key', 'wire/rate-limits'],
      },
    ],
  },
  {
    file: 'edge/snapshot/limit-fields.ts',
    tests: ['edge/meter/limit-fields'],
    changes: [
      {
        text: 'return Math.max(1, Math.ceil(ms / 1000))',
        becomes: 'return Math.floor(ms / 1000)',
        breaks: 'clients are told to come back too soon',
      },
    ],
  },
  {
    file: 'edge/meter/meter-gateway.ts',
    tests: ['wire/rate-limits-ai'],
    changes: [
      {
        text: 'if (spent.isAllowed) {',
        becomes: 'if (true) {',
        breaks: 'the limit of an AI gateway lets everything in',
      },
      {
        text: '`app ${actor.client}`',
        becomes: "''",
        breaks: 'one app spends the share of all others',
        tests: ['wire/ai-access-tokens'],
      },
      {
        text: 'rateLimit === null || rateLimit.limit === 0',
        becomes: 'rateLimit === null',
        breaks: 'a limit of 0, which is none, refuses everything',
      },
    ],
  },
  {
    file: 'edge/snapshot/limit-rules.ts',
    tests: ['wire/rate-limits'],
    changes: [
      {
        text: "readsPath: when?.readsPath === true || key.some(({ by }) => by === 'path')",
        becomes: "readsPath: key.some(({ by }) => by === 'path')",
        breaks: 'a path that cannot be read escapes a limit whose condition looks at it',
      },
      {
        text: "error: action === 'block' ? 'rate_limited' : null",
        becomes: "error: 'rate_limited'",
        breaks: 'a limit that is to be logged refuses',
      },
      {
        text: "const errors = { day: 'daily_limit_reached', month: 'plan_limit_reached' } as const",
        becomes: "const errors = { day: 'plan_limit_reached', month: 'daily_limit_reached' } as const",
        breaks: 'clients are told of the wrong quota',
      },
    ],
  },
]
