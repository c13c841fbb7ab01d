// Mutations of the way of a request to its origin and of the response back.

import type { Mutated } from './mutation.ts'

export const forward: readonly Mutated[] = [
  {
    file: 'edge/forward/decide.ts',
    tests: ['edge/forward/decide'],
    changes: [
      {
        text: 'head.authenticatesConnection && continuesHandshake(head)',
        becomes: 'head.authenticatesConnection',
        breaks: 'browsers ask for a password in vain where handshakes share a connection of HTTP/2',
        tests: ['edge/forward/decide', 'wire/connection-authentication'],
      },
      {
        text: 'row.isUnprocessed && state.isInTime && mayRetry',
        becomes: 'row.isUnprocessed && mayRetry',
        breaks: 'a request is refused again and again without an end',
        tests: ['edge/forward/decide', 'wire/http2-origins'],
      },
      {
        text: "if (row.isUnprocessed) return state.sentBody !== 'gone'",
        becomes: 'if (row.isUnprocessed) return true',
        breaks: 'an upload of which the beginning is gone is sent again without it',
        tests: ['edge/forward/decide', 'wire/http2-origins'],
      },
      {
        text: "'GH_QUEUE_TIMEOUT', 'GH_TOTAL_TIMEOUT'",
        becomes: "'GH_TOTAL_TIMEOUT'",
        breaks: 'a request waits in one queue after the other',
      },
      {
        text: "way === 'name_unanswered' && !state.hasRepeatedLookup",
        becomes: 'false',
        breaks: 'one lost DNS packet fails a request',
      },
      {
        text: '(state.isIdempotent && !state.hasResponseBegun)',
        becomes: '!state.hasResponseBegun',
        breaks: 'a POST is sent twice',
        tests: ['edge/forward/decide', 'wire/retries'],
      },
      {
        text: '(state.isIdempotent && !state.hasResponseBegun)',
        becomes: 'state.isIdempotent',
        breaks: 'a request is sent again whose response has begun',
      },
      {
        text: '(isReused || row.isUnprocessed) && !hasResponseBegun',
        becomes: 'true',
        breaks: 'an origin that dies under a new request is not held to blame',
        tests: ['edge/forward/decide', 'wire/ejection'],
      },
      {
        text: "stage === 'none' || stage === 'relaying'",
        becomes: "stage === 'none'",
        breaks: 'a client gets a second response behind a part of the first',
      },
    ],
  },
  {
    file: 'edge/forward/forward-http.ts',
    tests: ['wire/one-connection'],
    changes: [
      {
        text: "if (failure.way === 'GH_HTTP1_REQUIRED') this.isHttp1Required = true",
        becomes: '',
        breaks: 'an origin that requires HTTP/1.1 is asked by HTTP/2 again',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'if (request.method !== x.outgoing.method) this.#body = null',
        becomes: '',
        breaks: 'a POST that became a GET sends its body behind it, which the origin reads as a request',
      },
      {
        text: "(this.sentBody !== 'whole' && request.method === x.outgoing.method)",
        becomes: 'false',
        breaks: 'a streamed body is missing where a redirect sends it on',
        tests: ['wire/redirects'],
      },
      {
        text: 'x.member!.health.released(x)\n    x.upstream = null',
        becomes: 'x.upstream = null',
        breaks: "an ejected origin whose trial ends by nobody's fault never gets another trial",
        tests: ['wire/ejection'],
      },
      {
        text: 'this.#trail.goOn(request, most)',
        becomes: 'this.#trail.goOn(request, 1000)',
        breaks: 'redirects are followed beyond what the route allows',
        tests: ['wire/redirects'],
      },
      {
        text: 'if (this.#attempt?.isClientBehind) return this.#x.client.abandon(this.#x)',
        becomes: '',
        breaks: 'an origin is blamed for a client that does not read',
        tests: ['wire/slow-readers', 'wire/timeouts'],
      },
      {
        text: "if (this.stage !== 'relaying' && this.#isOver(this.#totalDeadline))\n      return this.#failOverdue('GH_TOTAL_TIMEOUT')",
        becomes: '',
        breaks: 'no total timeout ends a request',
        tests: ['wire/ejection'],
      },
      {
        text: 'Math.min(deadline, total, this.#callDeadline)',
        becomes: 'Math.min(deadline, total)',
        breaks: 'a gRPC call goes on behind the deadline of its client',
        tests: ['wire/grpc'],
      },
      {
        text: '!attempt.isBlamed && !isIdleLoss',
        becomes: '!isIdleLoss',
        breaks: 'one bad response counts twice against its origin',
        tests: ['wire/ejection'],
      },
    ],
  },
  {
    file: 'edge/forward/attempt.ts',
    tests: ['wire/retries'],
    changes: [
      {
        text: 'this.#owner.isHttp1Required || this.wantsUpgrade || authenticatesConnection(this.#x.outgoing)',
        becomes: 'this.#owner.isHttp1Required || this.wantsUpgrade',
        breaks: 'credentials for a connection of HTTP/2 authenticate everybody on it',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'client.pinned !== null &&',
        becomes: 'false &&',
        breaks: 'no handshake of NTLM ends: its messages come on several connections',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'this.#isUpload = false\n    this.#origin',
        becomes: 'this.#origin',
        breaks: 'one upload makes room for two',
        tests: ['edge/forward/attempt'],
      },
      {
        text: 'if (authenticatesConnection(x.outgoing)) this.#pin(lease)',
        becomes: '',
        breaks: 'a client is served as the one that authenticated before it',
        tests: ['wire/connection-authentication'],
      },
      {
        text: 'if (head.authenticatesConnection) this.#pin(this.#lease!)',
        becomes: '',
        breaks: 'two clients answer the challenge of one connection',
        tests: ['wire/connection-authentication'],
      },
      {
        text: "if (this.#wait === 'sending') this.deadline = deadlineIn(this.#x, this.timeouts.write)",
        becomes: '',
        breaks: 'an origin may stop reading a body for ever',
        tests: ['wire/timeouts', 'wire/origin-failures'],
      },
      {
        text: "x.client.pauseBody()\n    if (this.#wait === 'sending')",
        becomes: "if (this.#wait === 'sending')",
        breaks: 'a body is kept in memory that the origin does not read',
        tests: ['wire/bodies', 'wire/crashes', 'wire/slow-uploads', 'journeys/memory'],
      },
    ],
  },
  {
    file: 'edge/forward/relaying.ts',
    tests: ['wire/slow-readers'],
    changes: [
      {
        text: 'this.isClientBehind = false\n    if',
        becomes: 'if',
        breaks: 'a client that was slow once is blamed for an origin that falls silent',
      },
      {
        text: 'if (this.#compressed === null || this.#compressed.goOn()) this.goOn()',
        becomes: 'this.goOn()',
        breaks: 'a compressed response stays where its client was slow once',
        tests: ['wire/compression'],
      },
      {
        text: 'this.#compressed.close()\n',
        becomes: '',
        breaks: 'the encoder of a response that was cut is never freed, and sends on',
        tests: ['wire/compression'],
      },
      {
        text: 'new EventStream(head.isEncoded || encoding !== null)',
        becomes: 'new EventStream(head.isEncoded)',
        breaks: 'a compressed event stream that is cut ends in plain text',
        tests: ['wire/compression'],
      },
      {
        text: 'this.isClientBehind = true\n    if (this.#lease.isHeld) this.#lease.pause()',
        becomes: 'this.isClientBehind = true',
        breaks: 'an answer is kept in memory that the client does not read',
        tests: ['wire/slow-readers', 'wire/client-leaves', 'wire/bodies'],
      },
      {
        text: "if (this.#x.stage === 'begun') this.#sink.flush()",
        becomes: '',
        breaks: 'what came before a fault is lost to the client',
        tests: ['wire/origin-dies', 'wire/late-bytes'],
      },
    ],
  },
  {
    file: 'edge/forward/retries.ts',
    tests: ['edge/forward/retries', 'wire/http2-origins'],
    changes: [
      {
        text: 'const isByHttp1 = needsHttp1 &&',
        becomes: "const isByHttp1 = x.upgrade === 'asked' &&",
        breaks: 'a client takes origins of HTTP/2 from all others by sending credentials of NTLM',
        tests: ['wire/connection-authentication'],
      },
      {
        text: "if (isByHttp1 && phase !== 'resolve' && phase !== 'connect') return false",
        becomes: '',
        breaks: 'a client takes origins of HTTP/2 from all others by WebSockets',
      },
      {
        text: 'if (tried.length > pool.mostRetries) return null',
        becomes: '',
        breaks: 'a request is tried at every member, whatever is set',
      },
      {
        text: 'if (!pool.budget.spend()) {',
        becomes: 'if (false) {',
        breaks: 'retries multiply the load of a pool that fails',
      },
      {
        text: 'blamesMember(phase, failure) && (',
        becomes: '(',
        breaks: 'a full queue ejects its origin',
      },
      {
        text: '(!inExchange.has(phase) || x.route!.pool.hasAnother(x.member!))',
        becomes: 'true',
        breaks: 'one bad request takes down the last healthy origin',
      },
      {
        text: 'else if (x.route!.pool.hasAnother(x.member!)) health.failed(x)',
        becomes: 'else health.failed(x)',
        breaks: 'a bad answer ejects the last healthy origin',
      },
      {
        text: 'else health.failedUnblamed(x)\n}',
        becomes: '}',
        breaks: 'a trial that is answered badly at the last member is never made again',
      },
      {
        text: 'if (member.health.begin(x)) return',
        becomes: 'return',
        breaks: 'a request goes to an origin that another one is trying',
      },
      {
        text: 'another.health.begin(x)\n  return another',
        becomes: 'return another',
        breaks: 'the trial of another member is not noticed',
      },
    ],
  },
  {
    file: 'edge/forward/outbound-request.ts',
    tests: ['edge/forward/outbound-request', 'wire/hop-by-hop'],
    changes: [
      {
        text: "if (host === 'preserve' && x.head.host !== null) return x.head.host",
        becomes: 'if (x.head.host !== null) return x.head.host',
        breaks: 'the Host that a route sets never reaches the origin',
      },
      {
        text: 'sidePortAuth.write({ address: x.clientAddress, ray: x.ray })',
        becomes: 'sidePortAuth.write({ address: x.client.peer, ray: x.ray })',
        breaks: 'people behind one proxy are one address to sign-in, sessions and the audit log',
        tests: ['journeys/dashboard', 'journeys/side-port'],
      },
      {
        text: 'x.client.isTrusted ? trustedLines(x) : strangersLines(x)',
        becomes: 'trustedLines(x)',
        breaks: 'the address that a stranger claims reaches origins',
        tests: ['wire/forwarding-headers'],
      },
      {
        text: 'CDN-Loop: ${appended(head.cdnLoop, snapshot.name)}',
        becomes: 'CDN-Loop: ${snapshot.name}',
        breaks: 'a circle through another network is not found',
      },
    ],
  },
  {
    file: 'edge/forward/redirect-body.ts',
    tests: ['edge/forward/redirect-body'],
    changes: [
      {
        text: 'if (this.#bytes > worthReading) this.#skip()',
        becomes: '',
        breaks: 'the endless body of a redirect keeps the request from going on',
      },
      {
        text: "if (framing === 'close') this.#skip()",
        becomes: '',
        breaks: 'a request waits for the origin to close the connection of a redirect',
      },
    ],
  },
  {
    file: 'edge/forward/buffered-body.ts',
    tests: ['edge/forward/kept-body', 'wire/grpc'],
    changes: [
      {
        text: 'if (this.#x.origin!.hasRoomForPause) this.#setOutWithPart()',
        becomes: 'this.#setOutWithPart()',
        breaks: 'clients that pause in their bodies take all connections of an origin',
      },
      {
        text: 'else if (requestBody.done) this.isWhole = false',
        becomes: '',
        breaks: 'a large body is kept in memory and sent twice',
      },
      {
        text: "if (requestBody.framing === 'chunked' && !this.#isCall) this.deadline",
        becomes: 'if (!this.#isCall) this.deadline',
        breaks: 'a pause in a body of known length takes a connection for it',
      },
      {
        text: 'if (this.#pieces.size + bytes.length > mostKept) this.forget()',
        becomes: 'if (false) this.forget()',
        breaks: 'uploads are kept in memory, however large',
        tests: ['wire/http2-origins'],
      },
      {
        text: 'if (upstream === this && origin!.hasRoomForPause)',
        becomes: 'if (upstream === this)',
        breaks: 'gRPC calls whose clients say nothing take all connections of an origin',
      },
      {
        text: 'setImmediate(',
        becomes: 'void (',
        breaks: 'the head of a gRPC call waits for a pause',
      },
      {
        text: 'if (this.#owner.endOverdueCall()) return',
        becomes: '',
        breaks: 'a gRPC call outlives its deadline while there is no room for it',
      },
    ],
  },
  {
    file: 'edge/forward/follow-redirect.ts',
    tests: ['edge/forward/follow-redirect', 'wire/redirects'],
    changes: [
      {
        text: "x.upgrade !== 'none' || setsCookie(head)",
        becomes: "x.upgrade !== 'none'",
        breaks: 'a login that redirects loses its cookie',
      },
      {
        text: "return isOurs && url.username === '' && url.password === ''",
        becomes: "return url.username === '' && url.password === ''",
        breaks: 'an origin sends the gateway to any host',
      },
      {
        text: 'this.#visited.size > most || this.#visited.has(visit)',
        becomes: 'this.#visited.size > most',
        breaks: 'a circle of redirects is followed to its end',
      },
      {
        text: "status <= 302 && from.method === 'POST'",
        becomes: "from.method === 'POST'",
        breaks: 'a POST that is to be made elsewhere (307) becomes a GET',
      },
      {
        text: 'fields: from.fields.filter((_, i) => stays[i >> 1]),',
        becomes: 'fields: from.fields,',
        breaks: 'a GET says that it has a body of some type',
      },
      {
        text: 'if (location !== null) return null',
        becomes: '',
        breaks: 'of two locations one is followed',
      },
      {
        text: 'accessRefusal(trial) === null &&',
        becomes: '',
        breaks: 'a redirect leads past the access rules',
      },
      {
        text: 'trial.route === x.route &&',
        becomes: '',
        breaks: 'a redirect leads to a route with other limits',
      },
      {
        text: '!isCountedByPath(trial)',
        becomes: 'true',
        breaks: 'a redirect leads past a limit',
      },
      {
        text: 'if (x.route!.config.rewrite?.path) return false',
        becomes: '',
        breaks: 'a redirect of a route that rewrites paths leads anywhere',
      },
      {
        text: 'target.length > x.snapshot.limits.url',
        becomes: 'false',
        breaks: 'a redirect makes a target of any length',
      },
      {
        text: 'chunked: false,',
        becomes: '',
        breaks: 'a GET behind a redirect says that it comes in chunks',
      },
    ],
  },
  {
    file: 'edge/forward/response-heads.ts',
    tests: ['wire/transparency', 'wire/http-1.0'],
    changes: [
      {
        text: "x.responseFraming === 'length' || x.head.method === 'HEAD' || head.status === 304",
        becomes: "x.responseFraming === 'length'",
        breaks: 'an answer to HEAD does not tell the length',
        tests: ['wire/transparency', 'wire/bodies', 'wire/http-1.0', 'wire/keep-alive'],
      },
      {
        text: "body.framing === 'close' || isRewritten",
        becomes: "body.framing === 'close'",
        breaks: 'a rewritten answer has the length of the one before',
        tests: ['wire/ai-rest', 'wire/ai-streams'],
      },
    ],
  },
  {
    file: 'edge/wire/body-writer.ts',
    tests: ['edge/forward/body-writer'],
    changes: [
      {
        text: 'if (this.#isChunked) this.#held += chunkSize(bytes.length)',
        becomes: '',
        breaks: 'a large piece of a chunked body has no frame',
      },
      {
        text: "if (this.#isChunked) this.#sink.write('\\r\\n')",
        becomes: '',
        breaks: 'a large chunk has no end',
      },
    ],
  },
  {
    file: 'edge/exchange/event-stream.ts',
    tests: ['edge/forward/event-stream'],
    changes: [
      {
        text: "return this.#end === '' || /[\\r\\n]$/.test(this.#end) ? '' : '\\n'",
        becomes: "return ''",
        breaks: 'the error of a stream is read as part of the line before',
      },
    ],
  },
  {
    file: 'edge/forward/forward-websocket.ts',
    tests: ['wire/websocket', 'edge/forward/forward-websocket'],
    changes: [
      {
        text: 'if (!this.#lease.write(bytes)) this.#x.client.pauseBody()',
        becomes: 'this.#lease.write(bytes)',
        breaks: 'a tunnel keeps in memory what its origin does not read',
      },
      {
        text: 'if (!this.#x.client.write(bytes)) this.#lease.pause()',
        becomes: 'this.#x.client.write(bytes)',
        breaks: 'a tunnel keeps in memory what its client does not read',
      },
    ],
  },
]
