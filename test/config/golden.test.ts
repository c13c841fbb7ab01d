// Runs every file of test/golden/config: a configuration, a dashed line, and what becomes of it: members of the result as JSON, or lines of
// mistakes and warnings.
import { equal, partialDeepStrictEqual } from 'node:assert/strict'
import { accessSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { formatMistake } from '../../src/config/file/mistake.ts'
import { parse } from '../../src/config/file/parse.ts'

const folder = join(import.meta.dirname, '../golden/config')
const dashes = /^-{8,}$\n?/m
const secret = 's3cret'
const surroundings = {
  env: {
    ORIGIN: 'http://10.0.0.1:8000',
    HOST: 'a.example',
    PORT: '8000',
    WORKERS: '4',
    EMPTY: '',
    SECRET: secret,
  },
  readFile: (path: string) => readFileSync(join(folder, 'files', path), 'utf8'),
  findFile: (path: string) => {
    accessSync(join(folder, 'files', path))
    return `/etc/gatehouse/${path}`
  },
}

describe('golden configurations', () => {
  for (const file of readdirSync(folder).filter(name => name.endsWith('.yaml'))) {
    test(file.replace('.yaml', '').replaceAll('-', ' '), () => {
      const [text = '', expected = ''] = readFileSync(join(folder, file), 'utf8').split(dashes)
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
