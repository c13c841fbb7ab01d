import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gatehouse } from '../../help/command.ts'
import { quickFolder } from '../../help/quick-folder.ts'

test('init writes a configuration without mistakes, and says how to start with it', async t => {
  const path = join(quickFolder(t, 'init'), 'my.yaml')
  const { code, stderr } = await gatehouse(['init', path])
  assert.equal(code, 0)
  assert.match(stderr, /^\S+ is written\. ORIGIN=\S+ gatehouse start --config \S+ serves/)
  assert.equal((await gatehouse(['check', '--config', path])).code, 0)
})

test('init leaves a file alone that is there', async t => {
  const path = join(quickFolder(t, 'init'), 'my.yaml')
  writeFileSync(path, 'zones: []\n')
  const { code, stderr } = await gatehouse(['init', path])
  assert.equal(code, 1)
  assert.match(stderr, /is there already: it was left as it is\n$/)
  assert.equal(readFileSync(path, 'utf8'), 'zones: []\n')
})

test('init says why it cannot write', async t => {
  const { code, stderr } = await gatehouse(['init', join(quickFolder(t, 'init'), 'nowhere/my.yaml')])
  assert.equal(code, 1)
  assert.match(stderr, /^cannot write .*: ENOENT/)
})
