// Measures a list of a million addresses: how long its file takes and how long it holds others up in ms, its memory, and a lookup in ns.
// node --expose-gc bench/micro/access/lookup.ts
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readListFile } from '../../../src/access/files/list-file.ts'
import { AddressWords } from '../../../src/net/address/address-words.ts'

const entries = 1_000_000
const lookups = 1_000_000

const folder = mkdtempSync(join(tmpdir(), 'lookup-'))
await measure('IPv4', i => [24, 16, 8, 0].map(shift => (scatter(i) >>> shift) & 255).join('.'))
await measure('IPv6', i => `2001:db8:${group(i, 16)}:${group(i, 0)}::${group(i * 31, 0)}`)
rmSync(folder, { recursive: true })

async function measure(family: string, addressOf: (i: number) => string): Promise<void> {
  const path = join(folder, family)
  writeFileSync(path, Array.from({ length: entries }, (_, i) => addressOf(i)).join('\n'))
  globalThis.gc?.()
  const before = process.memoryUsage()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const began = performance.now()
  const { table } = await readListFile(path)
  const took = performance.now() - began
  delay.disable()
  const peak = process.memoryUsage().rss - before.rss
  globalThis.gc?.()
  const kept = process.memoryUsage().arrayBuffers - before.arrayBuffers
  console.log(
    `${family}: ${table.size} rows in ${took.toFixed(0)} ms, others wait ${(delay.max / 1e6).toFixed(1)} ms at most, ` +
      `${(peak / 1e6).toFixed(0)} MB more at the end of it, ${(kept / 1e6).toFixed(0)} MB kept`,
  )
  const some = Array.from({ length: 100_000 }, (_, i) => addressOf(i * 17))
  const words = new AddressWords()
  for (let round = 0; round < 3; round++) {
    let found = 0
    const start = performance.now()
    for (let i = 0; i < lookups; i++) {
      words.read(some[i % some.length]!)
      if (table.find(words) !== 'nothing') found++
    }
    const ns = ((performance.now() - start) * 1e6) / lookups
    console.log(`  read and find ${ns.toFixed(0)} ns (${found} found)`)
  }
}

function scatter(i: number): number {
  return Math.imul(i, 2_654_435_761) >>> 0
}

function group(i: number, shift: number): string {
  return ((scatter(i) >>> shift) & 0xffff).toString(16)
}
