// Keeps a bench from being measured together with another one, or with what else the machine does.
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { getPriority, setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** An abstract socket of Linux: it goes with its process, however that ends. */
const turn = '\0gatehouse-bench'

const pollMilliseconds = 500
const niceness = -20

/** Waits until no other bench runs on this machine, and takes the processor before other programs where it may. */
export async function beAlone(): Promise<void> {
  const server = createServer().unref()
  for (let isFirst = true; !(await listens(server)); isFirst = false) {
    if (isFirst) console.error('another bench is running: waiting for its end')
    await wait(pollMilliseconds)
  }
  try {
    setPriority(niceness)
    raiseSession(process.pid)
  } catch {
    console.error('not allowed to raise the priority: what else runs here adds noise')
  }
}

/** Gives the session of a process the priority that its processes have: Linux may share the processor between sessions first. */
export function raiseSession(pid: number): void {
  const path = `/proc/${pid}/autogroup`
  if (existsSync(path)) writeFileSync(path, `${getPriority()}`)
}

async function listens(server: ReturnType<typeof createServer>): Promise<boolean> {
  server.listen(turn)
  try {
    await once(server, 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}
