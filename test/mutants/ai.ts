// Mutations of AI gateways: whose key is used, what a call costs, what is logged of it.

import type { Mutated } from './mutation.ts'

export const ai: readonly Mutated[] = [
  {
    file: 'edge/ai/authenticate.ts',
    tests: ['edge/ai/authenticate'],
    changes: [
      {
        text: "if (ai.misplaced !== null) return turnAway(x, ai, 'misplaced')",
        becomes: '',
        breaks: 'a token of ours is sent on to a provider',
        tests: ['wire/ai-misplaced'],
      },
      {
        text: "if (token !== 'store_away' && isStray(x.head, ai)) return turnAway(x, ai, 'misplaced')",
        becomes: '',
        breaks: 'a token in the header of the other kind of route gets a bare 401',
        tests: ['wire/ai-misplaced'],
      },
      {
        text: 'if (equalsIgnoreCase(fields[i]!, own)) return false',
        becomes: '',
        breaks: 'a token in its place that is not valid is told to go there',
        tests: ['wire/ai-misplaced'],
      },
      {
        text: "if (gateway === 'store_away') return turnAway(x, ai, 'store_away')",
        becomes: '',
        breaks: 'a store that is away opens gateways',
      },
      {
        text: 'if (gateway !== null && !gateway.authentication) return letIn(x, ai, gateway, null)',
        becomes: 'if (gateway !== null) return letIn(x, ai, gateway, null)',
        breaks: 'no gateway asks for a token',
        tests: ['wire/ai-authentication'],
      },
      {
        text: "if (!permits(token, 'AI Gateway Run', ai.target.account)) {",
        becomes: 'if (false) {',
        breaks: 'any token calls any model',
        tests: ['wire/ai-authentication'],
      },
      {
        text: "permits(token, 'AI Gateway Run', ai.target.account)",
        becomes: "permits(token, 'AI Gateway Run', token.account)",
        breaks: 'a token of one account calls on the cost of another',
      },
      {
        text: '    return turnAway(x, ai, token)\n',
        becomes: '',
        breaks: 'a bad token is as good as any',
        tests: ['wire/ai-authentication'],
      },
    ],
  },
  {
    file: 'edge/ai/locate-ai.ts',
    tests: ['wire/ai-agents'],
    changes: [
      {
        text: "x.head.method === 'HEAD' && isBaseOfCalls(x.head.target)",
        becomes: 'isBaseOfCalls(x.head.target)',
        breaks: 'calls of a base URL need no token',
      },
      {
        text: "x.head.method === 'HEAD' && isBaseOfCalls(x.head.target)",
        becomes: "x.head.method === 'HEAD'",
        breaks: 'HEAD of any AI route needs no token',
      },
    ],
  },
  {
    file: 'edge/ai-call/outbound-call.ts',
    tests: ['wire/ai-native', 'wire/ai-rest', 'wire/ai-authentication'],
    changes: [
      {
        text: 'endsHere(name) ||',
        becomes: '',
        breaks: 'the token for the gateway reaches the provider',
        tests: ['wire/ai-native', 'wire/ai-authentication'],
      },
      {
        text: "if (target.api === 'rest' || holdsOurs(value)) return ''",
        becomes: '',
        breaks: 'our own token is sent to the provider as its key',
        tests: ['wire/ai-rest', 'wire/ai-authentication'],
      },
      {
        text: "return isForGateway(name) || equalsIgnoreCase(name, 'cookie')",
        becomes: 'return isForGateway(name)',
        breaks: 'cookies of our host reach providers',
        tests: ['edge/ai/outbound-call'],
      },
      {
        text: 'return forwarded + (isBrought ? credential : ourCredential(ai, keys, now))',
        becomes: 'return forwarded + credential + ourCredential(ai, keys, now)',
        breaks: 'a provider gets two keys',
        tests: ['wire/ai-native', 'wire/ai-keys'],
      },
      {
        text: 'lines.provider !== provider ||',
        becomes: '',
        breaks: 'a provider gets the key that a caller brought for another one',
        tests: ['edge/ai/outbound-call'],
      },
      {
        text: '|| lines.api !== target.api',
        becomes: '',
        breaks: 'a credential of a native call goes on by a route that uses only configured ones',
        tests: ['edge/ai/outbound-call'],
      },
      {
        text: 'lines.ids !== ids ||',
        becomes: '',
        breaks: 'a call is sent on with the lines of the one before',
        tests: ['edge/ai/outbound-call'],
      },
      {
        text: "if (ai.rewriting !== null) lines += 'Accept-Encoding: identity\\r\\n'",
        becomes: '',
        breaks: 'an answer that has to be read is compressed',
        tests: ['wire/ai-rest', 'wire/ai-streams', 'wire/ai-stream-usage'],
      },
    ],
  },
  {
    file: 'edge/ai-call/ai-fields.ts',
    tests: ['wire/ai-misplaced', 'wire/ai-authentication'],
    changes: [
      {
        text: '!(expected === 0x2d && char === 0x5f)',
        becomes: 'true',
        breaks: 'svc_aig_authorization reaches a provider that folds underscores',
        tests: ['edge/ai/ai-fields'],
      },
      {
        text: 'return before === null ? value : repeated',
        becomes: 'return value',
        breaks: 'of two fields the last counts',
        tests: ['wire/ai-authentication', 'wire/ai-logs'],
      },
    ],
  },
  {
    file: 'edge/ai/provider-keys.ts',
    tests: ['edge/ai/provider-keys', 'wire/ai-keys'],
    changes: [
      {
        text: 'if (head.status !== 429 && head.status !== 401) return null',
        becomes: 'if (head.status !== 429) return null',
        breaks: 'a key that was revoked is used for every other call',
      },
      {
        text: "return isWhole && ++ai.keyChanges < keys.size ? 'another' : null",
        becomes: "return isWhole ? 'another' : null",
        breaks: 'a call goes from key to key for ever',
      },
      {
        text: 'keys.isTrusted(key, now) && mayBeRefusedItself(x, ai)',
        becomes: 'false',
        breaks: 'one caller takes all keys of a provider from the others',
      },
      {
        text: '/^(?:(?:x-|anthropic-)?rate-?limit|retry-after-ms$|x-should-retry$)/i',
        becomes: '/^/',
        breaks: 'callers read what a provider says of our account',
        tests: ['wire/ai-keys'],
      },
      {
        text: 'if (status === 401) keys.refused(key)',
        becomes: '',
        breaks: 'a key that was revoked is trusted on',
      },
      {
        text: 'key: keys.placeOf(key)',
        becomes: 'key: key.value',
        breaks: 'a provider key stands in the log',
      },
    ],
  },
  {
    file: 'ai/providers/providers.ts',
    tests: ['wire/ai-errors'],
    changes: [
      {
        text: 'usable: isChecked ? this.#usable() : []',
        becomes: 'usable: this.#usable()',
        breaks: 'anybody reads which providers the configuration has',
      },
      {
        text: "isChecked || !name.startsWith('custom-')",
        becomes: 'true',
        breaks: 'anybody finds names of the configuration by trying',
      },
    ],
  },
  {
    file: 'ai/providers/key-ring.ts',
    tests: ['ai/providers/key-ring'],
    changes: [
      {
        text: 'if (isResting && word === null) return 0',
        becomes: '',
        breaks: 'calls that were under way double the rest of a key',
      },
      {
        text: 'before?.keyOf(value) ?? fresh(value)',
        becomes: 'fresh(value)',
        breaks: 'a reload gives back keys that are turned away',
      },
      {
        text: 'now + Math.min(said, longestWord)',
        becomes: 'now + said',
        breaks: 'one wrong Retry-After costs a key for good',
      },
      {
        text: 'key.saidUntil < first.saidUntil',
        becomes: 'key.saidUntil > first.saidUntil',
        breaks: 'callers wait for the key that is back last',
      },
      {
        text: 'if (tried.includes(key)) continue',
        becomes: '',
        breaks: 'a call tries the same key again',
      },
      {
        text: 'key.failures = 0',
        becomes: '',
        breaks: 'a key that works rests longer each time',
      },
    ],
  },
  {
    file: 'edge/ai/open-log.ts',
    tests: ['wire/ai-logs'],
    changes: [
      {
        text: "if (logManagement > 0 && collectLog !== 'false')",
        becomes: 'if (logManagement > 0)',
        breaks: 'a call is logged that its caller wants kept out',
      },
      {
        text: "const keepsPayloads = collectLogs && collectLogPayload !== 'false'",
        becomes: 'const keepsPayloads = true',
        breaks: 'bodies are kept that nobody may keep',
      },
      {
        text: "if (unknown !== null) return badField(unknown, 'is not supported by this gateway')",
        becomes: '',
        breaks: 'a field that asks for something is passed over in silence',
        tests: ['wire/ai-logs', 'wire/ai-authentication', 'wire/ai-rest'],
      },
    ],
  },
  {
    file: 'edge/ai/plan-ai.ts',
    tests: ['wire/ai-keys', 'wire/ai-rest'],
    changes: [
      {
        text: 'if (call.translation !== null) tellDropped(x, call.translation)',
        becomes: '',
        breaks: 'what a provider does not get is dropped silently',
        tests: ['wire/ai-translation'],
      },
      {
        text: 'if (isJson && contentEncoding === null) return null',
        becomes: 'if (isJson) return null',
        breaks: 'a compressed body is read as JSON',
        tests: ['wire/ai-rest'],
      },
      {
        text: 'if (route.keys.size < 2 || bringsCredential(x.head, ai)) return null',
        becomes: 'if (route.keys.size < 2) return null',
        breaks: 'a caller with its own key is refused while ours rest',
        tests: ['wire/ai-keys'],
      },
    ],
  },
  {
    file: 'edge/ai-call/withheld-usage.ts',
    tests: ['edge/ai/withheld-usage'],
    changes: [
      {
        text: 'Array.isArray(choices) && choices.length === 0 &&',
        becomes: '',
        breaks: 'chunks with text and usage are left out',
      },
      {
        text: 'if (end === 0 && left <= largestEvent) {',
        becomes: 'if (end === 0) {',
        breaks: 'an event that never ends is kept in memory',
      },
    ],
  },
  {
    file: 'edge/ai-call/rewriting.ts',
    tests: ['wire/ai-streams', 'wire/ai-rest', 'wire/ai-answers-fuzz'],
    changes: [
      {
        text: 'return this.#body.size > largestResponse ? false : null',
        becomes: 'return null',
        breaks: 'an answer of any size is kept to be translated',
        tests: ['edge/ai/rewriting'],
      },
      {
        text: 'if (head.status < 200 || head.status > 299) return null',
        becomes: '',
        breaks: 'an error of a provider is translated as an answer',
        tests: ['edge/ai/rewriting'],
      },
      {
        text: 'return this.#events.isComplete ? rest : false',
        becomes: 'return rest',
        breaks: 'half a translated stream looks whole',
        tests: ['wire/ai-streams'],
      },
    ],
  },
  {
    file: 'edge/ai/usage-refusal.ts',
    tests: ['wire/ai-stream-usage'],
    changes: [
      {
        text: "reason.includes('stream_options') || reason.includes('include_usage')",
        becomes: 'true',
        breaks: 'a call that a provider refuses is made twice',
      },
      {
        text: ' || status > 299',
        becomes: '',
        breaks: 'a caller keeps the usage of others out of the log',
      },
      {
        text: 'askingUsage !== null && ',
        becomes: '',
        breaks: 'a caller does not get the error about what it asked for itself',
      },
    ],
  },
  {
    file: 'ai/usage/prices.ts',
    tests: ['ai/usage/prices'],
    changes: [
      {
        text: ' || this.#last.provider !== provider)',
        becomes: ')',
        breaks: 'a model costs what another provider asks for it',
      },
      {
        text: 'this.#last?.model !== model || this.#last.provider !== provider',
        becomes: 'this.#last?.provider !== provider',
        breaks: 'a model costs what the one before it did',
      },
      {
        text: 'Math.max(0, (usage.tokensIn ?? 0) - cacheRead - cacheWritten - audioIn)',
        becomes: '(usage.tokensIn ?? 0)',
        breaks: 'cached tokens are paid twice',
      },
      {
        text: '.sort((a, b) => b.model.length - a.model.length)',
        becomes: '',
        breaks: 'a price of a family comes before that of the model',
      },
      {
        text: " ?? this.#listed.get(plain.replace(version, ''))",
        becomes: '',
        breaks: 'a dated version of a model has no price',
      },
      {
        text: 'if (price?.isOwn !== true && usage.cost !== null && reportsCost.has(provider))',
        becomes: 'if (usage.cost !== null)',
        breaks: 'any provider says what its calls cost, against the price of the operator',
      },
      {
        text: 'Object.hasOwn(factors, tier!) ? scaled(usual, factors[tier!]!) : null',
        becomes: 'Object.hasOwn(factors, tier!) ? scaled(usual, factors[tier!]!) : usual',
        breaks: 'a call at a tier of unknown price is logged at the usual one',
      },
    ],
  },
  {
    file: 'ai/usage/usage.ts',
    tests: ['ai/usage/usage'],
    changes: [
      {
        text: 'if (level === 0) return null',
        becomes: '',
        breaks: 'a caller has other tokens logged by what a tool is called with',
      },
      {
        text: 'isWhole ? bytes : wholeEvents(bytes)',
        becomes: 'bytes',
        breaks: 'the arguments of a tool in an event that was cut are counted as usage',
      },
      {
        text: "parent === 'message' ? { ...member, tokensOut: null } : member",
        becomes: 'member',
        breaks: 'a placeholder is logged as what a model wrote',
      },
      {
        text: 'const mostTried = 64',
        becomes: 'const mostTried = Number.POSITIVE_INFINITY',
        breaks: 'a hostile answer keeps the loop busy',
      },
      {
        text: 'isEventStream && (isHalf || hidesLong)',
        becomes: '(isHalf || hidesLong)',
        breaks: 'what an answer holds before its usage adds to that',
      },
    ],
  },
  {
    file: 'ai/translate/images.ts',
    tests: ['ai/translate/messages-call-to-chat'],
    changes: [
      {
        text: '/^https?:\\/\\//i.test(url) ? url : ',
        becomes: 'true ? url : ',
        breaks: 'a caller has a provider read files of its machine',
      },
    ],
  },
  {
    file: 'ai-logs/entry.ts',
    tests: ['wire/ai-sessions'],
    changes: [
      {
        text: 'isStreamed && !o.isWhole && tokensOut === null',
        becomes: 'false',
        breaks: 'a caller that leaves before the end of a stream has it for nothing',
      },
      {
        text: '...(use.isEstimated && { usageIsEstimated: true as const }),',
        becomes: '',
        breaks: 'an estimate looks like what the provider reported',
      },
    ],
  },
  {
    file: 'edge/ai-call/outbound-call.ts',
    tests: ['wire/ai-sessions'],
    changes: [
      {
        text: ' || equalsIgnoreCase(name, extensions)',
        becomes: '',
        breaks: 'a session over a WebSocket is compressed, and logged without its tokens',
      },
    ],
  },
  {
    file: 'ai/usage/level.ts',
    tests: ['ai/usage/usage'],
    changes: [
      {
        text: 'if (!isName(bytes, at)) return 0',
        becomes: '',
        breaks: 'a name with a quote in it is taken for usage',
      },
      {
        text: 'if (isList || ++level > 2) return 0',
        becomes: 'level++',
        breaks: 'usage that a tool is called with in an event is counted',
      },
    ],
  },
  {
    file: 'ai/usage/patterns.ts',
    tests: ['ai/usage/patterns'],
    changes: [
      {
        text: 'if (this.#patterns.length > mostRemembered) this.#patterns.pop()',
        becomes: '',
        breaks: 'forms of answers fill the memory',
        tests: ['ai/usage/patterns'],
      },
      {
        text: 'odd.test(member) ||',
        becomes: '',
        breaks: 'numbers that are no whole ones are counted',
      },
    ],
  },
  {
    file: 'ai/usage/usage-member.ts',
    tests: ['ai/usage/usage-member'],
    changes: [
      {
        text: 'Number.isSafeInteger(value) && value >= 0',
        becomes: 'Number.isSafeInteger(value)',
        breaks: 'a provider takes tokens back',
      },
    ],
  },
  {
    file: 'ai/parsing/json-members.ts',
    tests: ['ai/parsing/json-members'],
    changes: [
      {
        text: 'if (isNamed(json, at, nameEnd, quoted)) found = { start, end }',
        becomes: 'if (isNamed(json, at, nameEnd, quoted)) found ??= { start, end }',
        breaks: 'a caller has another model logged than the one that it calls',
        tests: ['ai-logs/requested-model'],
      },
      {
        text: "if (++depth > deepest) this.broken = 'depth'",
        becomes: '++depth',
        breaks: 'a body nested deep costs the stack',
      },
      {
        text: 'byte === comma && ++values > most',
        becomes: 'false',
        breaks: 'a body of millions of values costs a worker its time',
      },
      {
        text: "if (++this.#values > this.#bounds.values) this.broken = 'values'",
        becomes: '',
        breaks: 'a body of millions of members costs a worker its time',
      },
      {
        text: "if (json[skipSpace(json, 0)] !== brace) return 'no_object'",
        becomes: '',
        breaks: 'a body that is an array nested deep is parsed',
      },
    ],
  },
  {
    file: 'ai/plan.ts',
    tests: ['ai/plan'],
    changes: [
      {
        text: 'if (duplicate !== null) return within(asked.pointer, duplicate)',
        becomes: '',
        breaks: 'a check before the gateway reads another request than the provider gets',
        tests: ['wire/ai-translation'],
      },
      {
        text: '.filter(parameter => !new URLSearchParams(parameter).has(credentialParameter))',
        becomes: '',
        breaks: 'a key in the query of a call takes the place of ours',
      },
    ],
  },
  {
    file: 'ai/target.ts',
    tests: ['ai/target'],
    changes: [
      {
        text: 'if (!isDigit(code) && !(code >= 0x61 && code <= 0x66)) return null',
        becomes: '',
        breaks: 'any 32 characters are an account',
      },
    ],
  },
  {
    file: 'ai-logs/queue.ts',
    tests: ['ai-logs/queue'],
    changes: [
      {
        text: 'madeAt: createdAt,',
        becomes: '',
        breaks: 'a gateway shows calls of another one that had its name',
      },
      {
        text: 'else this.#loseAll(this.#backlog.putBack(batch))',
        becomes: 'else this.#drop(batch.count)',
        breaks: 'a store that is away for a moment costs log entries',
      },
      {
        text: 'batch.isRepeated = true',
        becomes: '',
        breaks: 'entries that were written already are written twice',
      },
      {
        text: 'this.#counts.over_limit.value += batch.count - written',
        becomes: '',
        breaks: 'nobody sees that a log is full',
      },
      {
        text: 'this.#endAll()\n    while',
        becomes: 'while',
        breaks: 'the last entries are lost at a restart',
      },
      {
        text: 'if (!(failure instanceof StoreUnreachable)) this.#drop(batch.count)\n      else this.#putBack(batch)',
        becomes: 'this.#putBack(batch)',
        breaks: 'an entry that cannot be written stops all others',
      },
    ],
  },
  {
    file: 'ai-logs/backlog.ts',
    tests: ['ai-logs/queue'],
    changes: [
      {
        text: 'while (this.count > mostEntries || this.#weight > mostBytes) dropped.push(this.take()!)',
        becomes: 'while (this.count > mostEntries) dropped.push(this.take()!)',
        breaks: 'bodies that wait for the store fill the memory',
      },
    ],
  },
  {
    file: 'ai-logs/capture.ts',
    tests: ['ai-logs/capture'],
    changes: [
      {
        text: 'if (this.#rolled < tailSize)',
        becomes: 'if (this.#rolled < 0)',
        breaks: 'the tokens of a response of 64 KiB and some more are lost',
      },
      {
        text: 'const isPinning = bytes.length * mostPinned < bytes.buffer.byteLength',
        becomes: 'const isPinning = false',
        breaks: 'a few bytes of a body keep all of its packet in memory',
        tests: ['ai-logs/capture'],
      },
    ],
  },
  {
    file: 'ai-logs/entry.ts',
    tests: ['ai-logs/entry'],
    changes: [
      {
        text: 'writer.add(entry, o.keepsPayloads ? bodiesOf(o, request, answer, streamed) : noBodies)',
        becomes: 'writer.add(entry, bodiesOf(o, request, answer, streamed))',
        breaks: 'bodies are kept that nobody may keep',
      },
      {
        text: 'redactedBytes(inPieces ? withoutPieces(text) : text)',
        becomes: 'redactedBytes(text)',
        breaks: 'a token that a model repeats in a stream is in the log',
        tests: ['wire/ai-logs'],
      },
      {
        text: 'redactedBytes(inPieces ? withoutPieces(text) : text)',
        becomes: 'inPieces ? withoutPieces(text) : text',
        breaks: 'a token in a body is in the log',
        tests: ['wire/ai-logs'],
      },
      {
        text: 'const model = asked && redacted(asked)',
        becomes: 'const model = asked',
        breaks: 'a token in place of a model is in the log',
        tests: ['wire/ai-logs'],
      },
      {
        text: 'success: o.isWhole && isGood(o)',
        becomes: 'success: isGood(o)',
        breaks: 'a call that was cut counts as a success',
      },
    ],
  },
  {
    file: 'ai-logs/metadata.ts',
    tests: ['ai-logs/metadata'],
    changes: [
      {
        text: 'if (values.length > mostMembers) return',
        becomes: 'if (false) return',
        breaks: 'metadata have any number of members',
      },
    ],
  },
]
