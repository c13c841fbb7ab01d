import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readListFile } from '../../../src/access/files/list-file.ts'
import { parseNetwork } from '../../../src/net/address/address.ts'
import type { AddressTable } from '../../../src/net/address/address-table.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'
import { watchedFolder } from '../watched-folder.ts'
import { cpuTime, longestStall } from '../../help/stall.ts'

function holds(table: AddressTable, address: string): boolean {
  const words = new AddressWords()
  return words.read(address) && table.find(words) !== 'nothing'
}

describe('a list file', () => {
  test('has an address or network a line, with comments, blank lines and any line ends', async t => {
    const { write } = watchedFolder(t)
    const text =
      '# ours\r\n\r\n192.0.2.1\r\n  10.0.0.0/8  # inside\n\t2001:DB8::/32#x\n192.0.2.1\n10.1.0.0/16\n::ffff:198.51.100.1'
    const { table } = await readListFile(write('list', text))
    assert.equal(table.size, 4)
    for (const address of ['192.0.2.1', '10.9.9.9', '2001:db8::7', '198.51.100.1'])
      assert.ok(holds(table, address))
    assert.ok(!holds(table, '192.0.2.2'))
  })

  test('may be empty', async t => {
    const { write } = watchedFolder(t)
    assert.equal((await readListFile(write('list', ''))).table.size, 0)
    assert.equal((await readListFile(write('list', '#\n\n'))).table.size, 0)
  })

  test('knows whether its last line ends', async t => {
    const { write } = watchedFolder(t)
    for (const [text, isEnded] of [
      ['', true],
      ['192.0.2.1\n', true],
      ['192.0.2.1', false],
      ['192.0.2.1\n#', false],
    ] as const)
      assert.equal((await readListFile(write('list', text))).isEnded, isEnded, text)
  })

  for (const junk of [
    '192.0.2.1 192.0.2.2',
    '192.0.2.256',
    '192.0.2.1:80',
    'fe80::1%eth0',
    'host.test',
    '10.0.0.0/33',
    '10.0.0.0-10.0.0.9',
    '; x',
  ]) {
    test(`is refused with its line for ${junk}`, async t => {
      const { write } = watchedFolder(t)
      const path = write('list', `192.0.2.1\n\n${junk}\n192.0.2.300\n`)
      await assert.rejects(readListFile(path), {
        message: `${path}:3: must be an IP address or a CIDR network, one per line`,
      })
    })
  }

  test('that is missing, or a folder, is refused by name', async t => {
    const { write } = watchedFolder(t)
    await assert.rejects(readListFile('/nowhere/list'), { message: '/nowhere/list: cannot be read: ENOENT' })
    const folder = write('list', '').replace(/.list$/, '')
    await assert.rejects(readListFile(folder), { message: `${folder}: cannot be read: EISDIR` })
  })

  test('with a line that never ends is not read into memory', async () => {
    await assert.rejects(readListFile('/dev/zero'), /^Error: \/dev\/zero:1: must be/)
  })

  test('reads the same however its lines fall on what is read at once', async t => {
    const { write } = watchedFolder(t)
    const lines = Array.from(
      { length: 20_000 },
      (_, i) => `10.${i >> 8}.${i & 255}.7${i % 3 === 0 ? '\r' : ''}`,
    )
    const { table } = await readListFile(write('list', lines.join('\n')))
    assert.equal(table.size, 20_000)
  })

  test('of any bytes is read or refused by the rule', async t => {
    const { write } = watchedFolder(t)
    const line = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('', '#', ' ', '/', '10.0.0.0/8', '\r'),
      fc.string(),
    )
    const text = fc.oneof(
      fc.array(line, { maxLength: 6 }).map(lines => Buffer.from(lines.join('\n'))),
      fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(text, async bytes => {
        const lines = bytes.toString('latin1').split('\n')
        const bad = lines.findIndex(one => {
          const member = one.replace(/#.*$/s, '').trim()
          return member !== '' && parseNetwork(member) === null
        })
        const path = write('list', bytes)
        if (bad === -1) await readListFile(path)
        else await assert.rejects(readListFile(path), new RegExp(`:${bad + 1}: must be`))
      }),
      { numRuns: 300 },
    )
  })
})

test('a million addresses are read while others go on, into less than 200 MB', async t => {
  const { write } = watchedFolder(t)
  const lines = Array.from({ length: 1_000_000 }, (_, i) => {
    const scattered = Math.imul(i, 2_654_435_761) >>> 0
    const group = (shift: number) => ((scattered >>> shift) & 0xffff).toString(16)
    return i % 2 === 0
      ? `2001:db8:${group(16)}:${group(0)}::/64`
      : `${i >>> 16}.${(i >>> 8) & 255}.${i & 255}.1`
  })
  const path = write('list', lines.join('\n'))
  const before = process.memoryUsage().rss
  const {
    result: { table },
    longest,
  } = await longestStall(() => readListFile(path))
  assert.equal(table.size, 1_000_000)
  assert.ok(process.memoryUsage().rss - before < 200e6)
  // Some 10 ms on a machine with nothing else to do; all at once they take seconds.
  assert.ok(longest < 250, `${longest} ms`)
  const words = new AddressWords()
  const took = cpuTime(() => {
    for (let i = 0; i < 200_000; i++) {
      words.read(lines[(i * 7) % lines.length]!.replace('/64', ''))
      assert.notEqual(table.find(words), 'nothing')
    }
  })
  // The replacing and asserting included.
  assert.ok(took < 200_000 * 0.01, `${took} ms`)
})
