// docs/metrics.md lists the families, as their help texts describe them. WRITE_DOCS=1 writes the list anew.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { families } from '../../../src/metrics/families/families.ts'
import { readPage } from '../../help/docs.ts'
import { root } from '../../help/source.ts'

test('docs/metrics.md lists every family of metrics', () => {
  const { path, text } = readPage('docs/metrics.md')
  const [intro] = text.split('\n| ')
  const row = (...cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const rows = families.map(({ name, type, help }) => row(`\`${name}\``, type, help))
  const found = [intro, row('metric', 'type', 'what it says'), '|---|---|---|', ...rows, ''].join('\n')
  if (process.env.WRITE_DOCS) writeFileSync(join(root, path), found)
  else assert.equal(text, found)
})
