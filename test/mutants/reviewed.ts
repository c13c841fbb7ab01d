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
    file: 'http1/heads/request-head.ts',
    line: 'if (this.#crossing !== null && !this.#isFlat) {',
    becomes: 'if (this.#crossing !== null && this.#isFlat) {',
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
]
