// Parses every file of test/golden/config: a configuration, a dashed line, and what becomes of it: members of the result as JSON, or lines of
// mistakes and warnings.
import { equal, partialDeepStrictEqual } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatMistake } from '../../src/config/file/mistake.ts'
import { parse } from '../../src/config/load/parse.ts'
import { goldenConfigs, secret, surroundings } from '../help/golden-config.ts'

describe('golden configurations', () => {
  for (const { name, text, expected } of goldenConfigs) {
    test(name.replaceAll('-', ' '), () => {
      const parsed = parse(text, surroundings)
      const remarks = 'mistakes' in parsed ? parsed.mistakes : parsed.warnings
      const lines = remarks.map(remark => formatMistake('', remark).slice(1))
      equal(lines.join('\n').includes(secret), false, 'a secret is printed')
      if (!expected.startsWith('{')) return equal(lines.join('\n'), expected.trim())
      equal(lines.join('\n'), '')
      partialDeepStrictEqual('config' in parsed && parsed.config, JSON.parse(expected))
    })
  }
})
