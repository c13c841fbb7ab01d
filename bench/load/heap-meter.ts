// Loaded into a contestant before its program: collects the garbage of its main thread whenever somebody connects to the
// socket that HEAP_METER names, and says how many bytes live then.
import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const server = createServer(socket => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    socket.end(`${heapUsed + external}`)
  })
  server.listen(process.env.HEAP_METER).unref()
}
