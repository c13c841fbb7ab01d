// Watches a file, its argument, from a process without a descriptor left, and then with some; ends once each has had its effect, and prints what failed.

import { EventEmitter, once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { watchConfig } from '../../../src/config/file/watch.ts'

const file = process.argv[2]!
const events = new EventEmitter()
const failures: (string | undefined)[] = []
// Watches keep no process alive.
const alive = setInterval(() => {}, 1_000)

const taken = takeAll()
const watcher = watchConfig([file], () => events.emit('reload'), {
  settle: 20,
  failed: error => failures.push((error as NodeJS.ErrnoException).code),
})
for (const descriptor of taken) closeSync(descriptor)

watcher.trigger()
await once(events, 'reload')
// The reload is over, after which it watches again.
await turn()
writeFileSync(file, 'new')
await once(events, 'reload')
watcher.close()
clearInterval(alive)
console.log(failures.join())

/** Opens files until the system refuses. */
function takeAll(): readonly number[] {
  const found: number[] = []
  for (;;)
    try {
      found.push(openSync('/dev/null', 'r'))
    } catch {
      return found
    }
}
