// Measures what it costs to know where the frames of a WebSocket end, in ns a chunk: node bench/micro/edge/frame-borders.ts
import { FrameBorders } from '../../../src/http1/websocket/frame-borders.ts'
import { medianOf } from '../median.ts'

report('one frame of 32 bytes in each chunk', framesOf(32, 1))
report('one frame of 1,000 bytes in each chunk', framesOf(1_000, 1))
report('64 KiB of frames of 32 bytes', framesOf(32, 1_820))
report('64 KiB of frames of 1,000 bytes', framesOf(1_000, 65))
report('64 KiB out of a frame of 1 MiB', framesOf(2 ** 20, 1), 65_536)

function report(what: string, bytes: Buffer, chunk = bytes.length): void {
  const borders = new FrameBorders('server')
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, i) =>
    bytes.subarray(i * chunk, (i + 1) * chunk),
  )
  const follow = () => {
    for (const chunk of chunks) borders.follow(chunk)
  }
  const ns = medianOf(Math.ceil(20_000_000 / bytes.length), follow) / chunks.length
  console.log(`${what}: ${ns.toFixed(0)} ns`)
}

function framesOf(size: number, count: number): Buffer {
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10)
  head[0] = 0x82
  head[1] = size < 126 ? size : size < 65_536 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(size, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2)
  return Buffer.concat(Array(count).fill(Buffer.concat([head, Buffer.alloc(size)])))
}
