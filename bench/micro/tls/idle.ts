// Measures the memory of idle connections: node bench/micro/tls/idle.ts. COUNT says how many there are; each has made one request. PLAIN=1 has them without TLS, and
// WARM=100000 has so many requests come before. PROGRAM=dist/main.js measures the package. The limit of open files must allow twice as many.
import { first, measureIdle } from '../../figures/idle-tls.ts'

const count = Number(process.env.COUNT ?? 10_000)
const { before, after, each } = await measureIdle({
  count,
  isTls: process.env.PLAIN !== '1',
  warmUp: Number(process.env.WARM ?? 0),
  program: process.env.PROGRAM,
})
console.log(
  `${count} idle connections: ${before.toFixed(0)} MiB with ${first}, ${after.toFixed(0)} MiB with all`,
)
console.log(`${each.toFixed(1)} KiB each, ${((each * count) / 1024).toFixed(1)} MiB for ${count}`)
process.exit()
