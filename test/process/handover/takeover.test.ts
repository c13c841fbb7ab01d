// The note by which the next gateway proves whose it is; test/journeys/restart.test.ts has the handovers.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { command, HandoverNote, takeOver } from '../../../src/process/handover/takeover.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { startSite } from '../../help/site.ts'

const secret = Buffer.alloc(32, 1)

async function leaveNote(t: TestContext, port = 1) {
  const folder = quickFolder(t, 'handover')
  const note = new HandoverNote(folder)
  await note.leave({ host: '127.0.0.1', port }, secret)
  const path = join(folder, `side-port-${port}.handover`)
  return { folder, note, path, proof: JSON.parse(readFileSync(path, 'utf8')).proof as string }
}

test('a note can be read by its owner alone, and only what it has is proof', async t => {
  const { note, path, proof } = await leaveNote(t)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.ok(note.proves(`Bearer ${proof}`))
  const changed = `${proof.startsWith('A') ? 'B' : 'A'}${proof.slice(1)}`
  for (const shown of [null, '', 'Bearer ', proof, `Bearer ${changed}`, `Bearer ${proof}A`])
    assert.ok(!note.proves(shown), String(shown))
})

test('a gateway removes its own note, and not that of the one that replaced it', async t => {
  const { folder, note } = await leaveNote(t)
  assert.ok(!(await note.isReplaced()))
  const next = new HandoverNote(folder)
  await next.leave({ host: '127.0.0.1', port: 1 }, secret)
  assert.ok(await note.isReplaced())
  await note.remove()
  assert.deepEqual(readdirSync(folder), ['side-port-1.handover'])
  await next.remove()
  assert.deepEqual(readdirSync(folder), [])
})

test('without a note that is whole nobody is asked', async t => {
  const asked: string[] = []
  const url = await startSite(t, ({ url }, response) => {
    asked.push(url!)
    response.end()
  })
  const port = Number(new URL(url).port)
  const { folder, path } = await leaveNote(t, port)
  const note = JSON.parse(readFileSync(path, 'utf8'))
  assert.notEqual(await takeOver({ port }, { replaces: true }, folder), null)
  assert.deepEqual(asked.splice(0), ['/handover?replace'])
  const cut = Object.keys(note).map(name => JSON.stringify({ ...note, [name]: undefined }))
  for (const text of ['', '{', 'null', ...cut]) {
    writeFileSync(path, text)
    assert.equal(await takeOver({ port }, { replaces: true }, folder), null)
  }
  assert.deepEqual(asked, [])
})

test('what another program says at the port of a gateway that has ended is no outcome of a command', async t => {
  const said = [
    [200, '', undefined],
    [200, 'ok', undefined],
    [200, '{}', undefined],
    [409, '<h1>Conflict</h1>', undefined],
    [409, 'null', undefined],
    [404, '{"success":false}', undefined],
    [101, '', undefined],
    [200, '{"done":true}', {}],
    [200, '{"done":true,"changed":["limits.url"]}', { changed: ['limits.url'] }],
    [409, '{"reason":"no"}', 'no'],
  ] as const
  let nth = 0
  const url = await startSite(t, (_, response) => {
    const [status, body] = said[nth]!
    response.writeHead(status, status === 101 ? { connection: 'upgrade', upgrade: 'other' } : {}).end(body)
  })
  const port = Number(new URL(url).port)
  const { folder } = await leaveNote(t, port)
  for (; nth < said.length; nth++)
    for (const name of ['reload', 'upgrade'] as const)
      assert.deepEqual(await command(name, { port }, folder), said[nth]![2], String(said[nth]))
})
