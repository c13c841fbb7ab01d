// Measures the resident memory of one encoder at each level, as the median of a hundred in a process of its own: node bench/micro/compression/memory.ts.
import { execFileSync } from 'node:child_process'
import { codings } from '../../../src/edge/encoding/encoders.ts'
import { contentCodings, type ContentCoding } from '../../../src/config/model/compression-config.ts'
import { body } from './body.ts'

const count = 100
const [coding, level] = process.argv.slice(2)
if (coding === undefined) reportAll()
else console.log(await measure(coding as ContentCoding, Number(level)))

function reportAll(): void {
  for (const coding of contentCodings) {
    const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(level =>
      execFileSync(process.execPath, [import.meta.filename, coding, String(level)])
        .toString()
        .trim(),
    )
    const most = codings[coding].memory / 1024
    console.log(`${coding}: ${sizes.join(', ')} KiB at levels 1 to 9; counted as ${most} KiB`)
  }
}

/** Returns the KiB that an encoder takes once it has read half a megabyte. */
async function measure(coding: ContentCoding, level: number): Promise<number> {
  const bytes = body(512 * 1024)
  const before = process.memoryUsage.rss()
  const encoders = []
  for (let i = 0; i < count; i++) {
    const encoder = codings[coding].open(level, false)
    encoders.push(encoder.resume())
    for (let at = 0; at < bytes.length; at += 64 * 1024)
      await new Promise(resolve => encoder.write(bytes.subarray(at, at + 64 * 1024), resolve))
  }
  return Math.round((process.memoryUsage.rss() - before) / encoders.length / 1024)
}
