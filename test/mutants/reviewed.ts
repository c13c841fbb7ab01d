// Mutations that change nothing that a test could notice.

interface Reviewed {
  /** The end of its path. */
  readonly file: string
  /** The line, and what becomes of it. */
  readonly line: string
  readonly becomes: string
  readonly because: string
}

export const reviewed: readonly Reviewed[] = [
  {
    file: 'ai/usage/prices.ts',
    line: 'if (model !== null && (this.#last?.model !== model || this.#last.provider !== provider))',
    becomes: 'if (model !== null)',
    because: 'only the speed differs',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'if (model !== null && (this.#last?.model !== model || this.#last.provider !== provider))',
    becomes: 'if ((this.#last?.model !== model || this.#last.provider !== provider))',
    because: 'only the speed differs',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'const usual = long !== null && (usage.tokensIn ?? 0) > long.above ? long.rates : rates',
    becomes: 'const usual = long !== null && (usage.tokensIn) > long.above ? long.rates : rates',
    because: 'null counts as 0',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'const read = Math.max(input, rates.cacheRead ?? 0, write, writeLong)',
    becomes: 'const read = Math.max(input, rates.cacheRead, write, writeLong)',
    because: 'null counts as 0',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'const ofSound = Math.max(read, rates.audioIn ?? 0)',
    becomes: 'const ofSound = Math.max(read, rates.audioIn)',
    because: 'null counts as 0',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'audioOut * Math.max(output, rates.audioOut ?? 0)',
    becomes: 'audioOut * Math.max(output, rates.audioOut)',
    because: 'null counts as 0',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'Math.max(0, (usage.tokensIn ?? 0) - cacheRead - cacheWritten - audioIn) * input +',
    becomes: 'Math.max(0, (usage.tokensIn) - cacheRead - cacheWritten - audioIn) * input +',
    because: 'null counts as 0',
  },
  {
    file: 'ai/usage/prices.ts',
    line: 'Math.max(0, (usage.tokensOut ?? 0) - audioOut) * output +',
    becomes: 'Math.max(0, (usage.tokensOut) - audioOut) * output +',
    because: 'null counts as 0',
  },
  {
    file: 'budgets/buckets.ts',
    line: 'const limited = token?.spendLimits === undefined ? null : token',
    becomes: 'const limited = false ? null : token',
    because: 'a token without limits has no rules',
  },
  {
    file: 'budgets/buckets.ts',
    line: 'if (!gateway.spendLimits && limited === null) return none',
    becomes: 'if (false) return none',
    because: 'only the speed differs',
  },
  {
    file: 'budgets/buckets.ts',
    line: 'if (partitions.length === 0) return null',
    becomes: 'if (false) return null',
    because: 'no values are joined to null',
  },
  {
    file: 'budgets/buckets.ts',
    line: 'return partitions.length === 1 ? partitions[0]!(call, caller) : joined(this.valuesOf(call, caller))',
    becomes: 'return false ? partitions[0]!(call, caller) : joined(this.valuesOf(call, caller))',
    because: 'only the speed differs',
  },
  {
    file: 'budgets/buckets.ts',
    line: '.sort((a, b) => (a.name < b.name ? -1 : 1))',
    becomes: '.sort((a, b) => (a.name <= b.name ? -1 : 1))',
    because: 'no two have the same name',
  },
  {
    file: 'budgets/calendar.ts',
    line: 'if (now < current.from || now >= current.until)',
    becomes: 'if (true)',
    because: 'only the speed differs',
  },
  {
    file: 'budgets/calendar.ts',
    line: 'if (now < current.from || now >= current.until)',
    becomes: 'if (now <= current.from || now >= current.until)',
    because: 'only the speed differs',
  },
  {
    file: 'pools/retry-budget.ts',
    line: 'if (elapsed <= window) return',
    becomes: 'if (elapsed < window) return',
    because: 'counts of exactly one window are multiplied by 1',
  },
  {
    file: 'http1/body/body.ts',
    line: 'let at = this.#state === chunk.size && this.#digits === 0 ? this.#plainSize(bytes, start) : start',
    becomes: 'let at = false ? this.#plainSize(bytes, start) : start',
    because: 'only the speed differs',
  },
  {
    file: 'http1/body/body.ts',
    line: 'for (; end < last && hexValue[bytes[end]!] !== 255; end++) size = size * 16 + hexValue[bytes[end]!]!',
    becomes:
      'for (; end <= last && hexValue[bytes[end]!] !== 255; end++) size = size * 16 + hexValue[bytes[end]!]!',
    because: 'a seventh digit counts like the others, and the line end must still follow',
  },
  {
    file: 'http1/body/body.ts',
    line: 'if (size === 0 || bytes[end] !== cr || bytes[end + 1] !== lf) return at',
    becomes: 'if (true) return at',
    because: 'only the speed differs',
  },
  {
    file: 'http1/body/body.ts',
    line: 'if (bytes[at] !== cr || bytes[at + 1] !== lf) return at',
    becomes: 'if (true) return at',
    because: 'only the speed differs',
  },
  {
    file: 'http1/body/chunk.ts',
    line: `return length < sizeLines.length ? sizeLines[length]! : \`\${length.toString(16)}\\r\\n\``,
    becomes: `return false ? sizeLines[length]! : \`\${length.toString(16)}\\r\\n\``,
    because: 'only the speed differs',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (linesAt <= start) return null',
    becomes: 'if (linesAt < start) return null',
    because: 'no request line is empty, so the next check but one fails',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (digitsEnd < end && !this.#hasSame(bytes, this.#digitsEnd, this.#size, digitsEnd)) return null',
    becomes:
      'if (digitsEnd <= end && !this.#hasSame(bytes, this.#digitsEnd, this.#size, digitsEnd)) return null',
    because: 'no bytes are the same as no bytes',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (end - start > limits.headerSection || last.ids.length > limits.headers) return null',
    becomes: 'if (end - start >= limits.headerSection || last.ids.length > limits.headers) return null',
    because: 'the head is parsed anew, with the same result',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (end - start > limits.headerSection || last.ids.length > limits.headers) return null',
    becomes: 'if (end - start > limits.headerSection || last.ids.length >= limits.headers) return null',
    because: 'the head is parsed anew, with the same result',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (head.target.length > limits.url) return null',
    becomes: 'if (head.target.length >= limits.url) return null',
    because: 'the head is parsed anew, with the same result',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size)',
    becomes: 'if (true) this.#bytes = Buffer.allocUnsafeSlow(size)',
    because: 'only the memory differs',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size)',
    becomes: 'if (this.#bytes.length <= size) this.#bytes = Buffer.allocUnsafeSlow(size)',
    because: 'only the memory differs',
  },
  {
    file: 'http1/heads/repeated-head.ts',
    line: 'while (at > start && bytes[at - 1]! >= zero && bytes[at - 1]! <= nine) at--',
    becomes: 'while (at >= start && bytes[at - 1]! >= zero && bytes[at - 1]! <= nine) at--',
    because: 'a head of digits alone is none',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: '#isFlat = false',
    becomes: '#isFlat = true',
    because: 'only the speed differs',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: 'this.#crossing = from.#flatCrossing()',
    becomes: ';',
    because: 'only the speed differs',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: 'this.#isFlat = from.#isFlat',
    becomes: ';',
    because: 'only the speed differs',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: 'this.#crossing = ownText(this.#crossing)',
    becomes: ';',
    because: 'only the speed differs',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: 'this.#isFlat = true',
    becomes: ';',
    because: 'only the speed differs',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: 'this.#isFlat = true',
    becomes: 'this.#isFlat = false',
    because: 'only the speed differs',
  },
  {
    file: 'http1/websocket/frame-borders.ts',
    line: 'if (this.#left >= length) {',
    becomes: 'if (this.#left > length) {',
    because: 'only the speed differs',
  },
  {
    file: 'http1/websocket/frame-borders.ts',
    line: 'if (this.#left >= length) {',
    becomes: 'if (false) {',
    because: 'only the speed differs',
  },
  {
    file: 'http1/websocket/frame-borders.ts',
    line: 'if (end > length) {',
    becomes: 'if (end >= length) {',
    because: 'nothing is left of a frame that ends with the bytes',
  },
  {
    file: 'http2/hpack/encoder.ts',
    line: "if (name === ':status') statuses.set(Number(value), index)",
    becomes: 'if (true) statuses.set(Number(value), index)',
    because: 'no response has the status 0 or none',
  },
  {
    file: 'http2/server/response-pace.ts',
    line: '#isOverdrawn = false',
    becomes: '#isOverdrawn = true',
    because: 'a look, which sets it, comes before every question',
  },
  {
    file: 'tls/der.ts',
    line: 'const bytes = short < 0x80 ? 0 : short - 0x80',
    becomes: 'const bytes = short <= 0x80 ? 0 : short - 0x80',
    because: '0x80 has no bytes in either case',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: "if (fieldsAt === -1) return head.fault ?? 'bad_request'",
    becomes: "if (false) return head.fault ?? 'bad_request'",
    because: 'no field line begins at -1, so the fault is the same',
  },
  {
    file: 'http1/heads/request-head.ts',
    line: 'if (this.#crossing !== null && !this.#isFlat) {',
    becomes: 'if (false) {',
    because: 'only the speed differs',
  },
  {
    file: 'tokens/token.ts',
    line: 'const sextet = shift < 0 ? (crc << -shift) & 0x3f : (crc >>> shift) & 0x3f',
    becomes: 'const sextet = shift <= 0 ? (crc << -shift) & 0x3f : (crc >>> shift) & 0x3f',
    because: 'a shift by 0 is the same in both directions',
  },
  {
    file: 'tokens/token.ts',
    line: 'for (let i = 0; i < alphabet.length; i++) sextetOf[alphabet.charCodeAt(i)] = i',
    becomes: 'for (let i = 0; i <= alphabet.length; i++) sextetOf[alphabet.charCodeAt(i)] = i',
    because: 'the index NaN sets no element',
  },
  {
    file: 'tokens/token.ts',
    line: 'const noSextet = 64',
    becomes: 'const noSextet = 2 * (64)',
    because: 'any number from 64 stands for no sextet',
  },
  {
    file: 'permissions/roles.ts',
    line: "return scopes.filter(scope => !identity.has(scope) && !given.has(groupOfScope.get(scope) ?? ''))",
    becomes: 'return scopes.filter(scope => !identity.has(scope) && !given.has(groupOfScope.get(scope)))',
    because: 'neither undefined nor an empty text is the id of a group',
  },
  {
    file: 'oauth/clients/uri-rules.ts',
    line: "return deviceNames.test(host) || deviceAddresses.test(canonicalAddress(host.replace(/^\\[|\\]$/g, '')) ?? '')",
    becomes:
      "return deviceNames.test(host) || deviceAddresses.test(canonicalAddress(host.replace(/^\\[|\\]$/g, '')))",
    because: 'the text of null is no address either',
  },
  {
    file: 'mcp/agreement.ts',
    line: 'return version !== null && isStateless(version)',
    becomes: 'return isStateless(version)',
    because: 'null is not greater than a text',
  },
]
