// The configuration file: a configuration, or mistakes inside of it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '../../../src/config/load/parse.ts'
import { root } from '../../help/source.ts'
import type { Target } from '../target.ts'

function nothing(): never {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
}

const surroundings = { env: { A: 'a', N: '5' }, readFile: nothing, findFile: nothing }
const whole = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
const names = [...new Set(whole.match(/\b[a-z][a-z_]{2,30}(?=:)/g))]
const example = (name: string) =>
  readFileSync(join(root, 'config/examples', name), 'utf8').replace(/^\s*#.*\n/gm, '')

export const target: Target = {
  seeds: [
    example('sites.yaml'),
    example('ai-gateway.yaml'),
    'zones: [{ hosts: [a.test], routes: [{ path: /, pool: { origins: ["http://b"] } }] }]',
    'a: &x [1, *x]\nb: !!set { c }\n? d\n: |\n  e\n--- 2\n...\n',
  ],
  tokens: [
    ...names.map(name => `${name}: `),
    ...[
      '\n',
      '\n  ',
      '\n    ',
      '- ',
      ': ',
      ', ',
      '[',
      ']',
      '{',
      '}',
      '? ',
      '&a ',
      '*a',
      '!t ',
      '| ',
      '> ',
      '"',
      "'",
      '#',
      '---\n',
      '...\n',
      '<<: *a',
      '\t',
    ],
    ...[
      'off',
      'on',
      'true',
      'null',
      '~',
      '1s',
      '5/min',
      '10KiB',
      '50%',
      '/',
      'a.example',
      'http://a',
      'https://a:1/b',
      '10.0.0.0/8',
      `\${A}`,
      `\${N}`,
      'file:x',
      '*.a',
    ],
  ],
  maxLength: 3072,
  covers: ['src/config/', 'node_modules/yaml/'],
  attempt(input) {
    const text = input.toString()
    const parsed = parse(text, surroundings)
    if ('config' in parsed) return
    assert.ok(parsed.mistakes.length > 0)
    const lines = text.split('\n').length
    for (const { line, column, message } of parsed.mistakes)
      assert.ok(line >= 1 && line <= lines && column >= 1 && message !== '', `${line}:${column} ${message}`)
  },
}
