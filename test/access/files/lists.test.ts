import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AddressList, AddressLists } from '../../../src/access/files/lists.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'
import { until } from '../../help/until.ts'
import { watchedFolder } from '../watched-folder.ts'

const words = new AddressWords()

function holds(list: AddressList, address: string): boolean {
  return words.read(address) && list.find(words) !== 'nothing'
}

test('a list is found by its name', async t => {
  const { files, write } = setUp(t)
  const lists = await files.open([
    { name: 'a', path: write('a', '192.0.2.1') },
    { name: 'b', path: write('b', '192.0.2.2') },
    { name: 'also-b', path: write('b', '192.0.2.2') },
  ])
  assert.ok(holds(lists.get('a'), '192.0.2.1'))
  assert.ok(!holds(lists.get('b'), '192.0.2.1'))
  assert.ok(holds(lists.get('also-b'), '192.0.2.2'))
  assert.throws(() => lists.get('c'), /list c is not loaded/)
})

test('when one list is invalid none is loaded, and the previous ones stay', async t => {
  const { files, write } = setUp(t)
  const a = { name: 'a', path: write('a', '192.0.2.1') }
  const lists = await files.open([a])
  const bad = write('bad', 'x')
  await assert.rejects(
    files.open([
      { name: 'a', path: write('other', '192.0.2.2') },
      { name: 'bad', path: bad },
    ]),
    { message: `${bad}:1: must be an IP address or a CIDR network, one per line` },
  )
  assert.ok(holds(lists.get('a'), '192.0.2.1'))
  assert.throws(() => lists.get('bad'))
})

test('a list follows its file until its configuration is replaced, also while another one is being prepared', async t => {
  const { files, write, metrics } = setUp(t)
  const before = await files.open([{ name: 'a', path: write('a', '192.0.2.1') }])
  const next = [{ name: 'a', path: write('other', '192.0.2.9') }]
  const after = await files.open(next)
  assert.ok(holds(before.get('a'), '192.0.2.1'))
  assert.ok(holds(after.get('a'), '192.0.2.9'))
  write('a', '192.0.2.2')
  await until(() => holds(before.get('a'), '192.0.2.2'))
  files.keep(next)
  write('a', '192.0.2.3')
  write('other', '192.0.2.8')
  await until(() => holds(after.get('a'), '192.0.2.8'))
  assert.ok(holds(before.get('a'), '192.0.2.2'))
  assert.equal(metrics.listReloads.success.value, 2)
})

test('a file that may be incomplete is used, with a warning', async t => {
  const { files, write, metrics, errors, warnings } = setUp(t)
  const path = write('a', '192.0.2.1\n192.0.2.2\n')
  const lists = await files.open([{ name: 'a', path }])
  const versions = ['192.0.2.1\n', '192.0.2.1\n64.0.0.0/1', '192.0.2.3', '', '# none\n', '192.0.2.1\n']
  for (const [i, text] of versions.entries()) {
    write('a', text)
    await until(() => metrics.listReloads.success.value === i + 1)
  }
  assert.deepEqual(
    warnings.map(({ path, reason }) => [path, reason]),
    [
      [path, 'the last line no longer ends with a newline'],
      [path, 'the file is empty now'],
    ],
  )
  assert.deepEqual(errors, [])
  assert.ok(holds(lists.get('a'), '192.0.2.1'))
})

test('a file that vanishes leaves its last content in effect, and is read when it is back', async t => {
  const { files, write, metrics, errors, remove } = setUp(t)
  const path = write('a', '192.0.2.1')
  const lists = await files.open([{ name: 'a', path }])
  const list = lists.get('a')
  remove('a')
  await until(() => metrics.listReloads.failure.value > 0)
  assert.ok(holds(list, '192.0.2.1'))
  assert.equal(errors[0]!.reason, `${path}: cannot be read: ENOENT`)
  write('a', '192.0.2.2')
  await until(() => holds(list, '192.0.2.2'))
})

test('a list that is closed is watched no more', async t => {
  const folder = watchedFolder(t)
  const [closed, witness] = [new AddressLists(folder), new AddressLists(folder)]
  t.after(() => witness.close())
  const a = { name: 'a', path: folder.write('a', '192.0.2.1') }
  const list = (await closed.open([a])).get('a')
  const watched = (await witness.open([a])).get('a')
  closed.close()
  // Twice: who saw the first change as late as the second one is seen would have read it by then.
  for (const address of ['192.0.2.2', '192.0.2.3']) {
    folder.write('a', address)
    await until(() => holds(watched, address))
  }
  assert.ok(holds(list, '192.0.2.1'))
  assert.equal(folder.metrics.listReloads.success.value, 2)
})

function setUp(t: TestContext) {
  const folder = watchedFolder(t)
  const files = new AddressLists(folder)
  t.after(() => files.close())
  return { files, ...folder }
}
