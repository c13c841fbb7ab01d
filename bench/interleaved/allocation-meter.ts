// Loaded into a contestant before its program: writes again and again how many bytes each of its threads has allocated on
// the heap of JavaScript, into the file that ALLOCATIONS names. Buffers lie outside that heap.
import { openSync, writeSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import { threadId } from 'node:worker_threads'
import { allocationPeriod, slotLength } from './allocations.ts'

const file = openSync(process.env.ALLOCATIONS!, 'r+')
const bytes = new DataView(new ArrayBuffer(slotLength))

setInterval(() => {
  bytes.setFloat64(0, getHeapStatistics().total_allocated_bytes, true)
  writeSync(file, bytes, 0, slotLength, threadId * slotLength)
}, allocationPeriod).unref()
