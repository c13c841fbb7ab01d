// docs/configuration.md and config/gatehouse.yaml list the restart-only settings as the code has them. WRITE_DOCS=1 writes both lists anew.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { changesBetween } from '../../src/config/load/changes.ts'
import type { Config } from '../../src/config/model/config.ts'
import { restartOnly, restartOnlyIn } from '../../src/process/gateway/restart-only.ts'
import { edgeConfig } from '../help/edge.ts'
import { root } from '../help/source.ts'

/** How each file introduces its list, what follows it, and how it writes a line of names. */
const lists = [
  {
    path: 'docs/configuration.md',
    place: /(?<=These settings need a restart:\n\n).*?(?=\n\nA reload that changes)/s,
    text: wrapped(restartOnly.map(name => `\`${name}\``)),
  },
  {
    path: 'config/gatehouse.yaml',
    place: /(?<=except to these settings, which need a restart:\n).*?(?=\n# A reload that changes)/s,
    text: wrapped(restartOnly, '# '),
  },
]

for (const { path, place, text } of lists)
  test(`${path} lists the restart-only settings`, () => {
    const file = join(root, path)
    const before = readFileSync(file, 'utf8')
    assert.match(before, place)
    const after = before.replace(place, text)
    if (process.env.WRITE_DOCS) writeFileSync(file, after)
    const isEqual = readFileSync(file, 'utf8') === after
    assert.ok(isEqual, 'it is older: WRITE_DOCS=1 node --test test/house/restart-only.test.ts writes it anew')
  })

test('a change of any restart-only setting is found, and of no other', () => {
  const config = edgeConfig([])
  assert.deepEqual(restartOnlyIn(changesBetween(config, changed(config) as Config)), restartOnly)
  const others = { ...config, name: 'other', log: { ...config.log, level: 'debug' } } as const
  assert.deepEqual(restartOnlyIn(changesBetween(config, others)), [])
})

/** Joins names with commas, in lines of at most 110 columns that all begin alike. */
function wrapped(names: readonly string[], start = ''): string {
  const lines = ['']
  for (const name of names
    .slice(0, -1)
    .map(name => `${name},`)
    .concat(`${names.at(-1)}.`)) {
    const longer = `${lines.at(-1)} ${name}`.trim()
    if (start.length + longer.length <= 110) lines[lines.length - 1] = longer
    else lines.push(name)
  }
  return lines.map(line => start + line).join('\n')
}

/** Returns a copy of a value in which every primitive value is another one. */
function changed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return { changed: value }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, changed(part)]))
}
