// Runs commands of `gatehouse` that come as messages, one after another in this one process; command-lines.ts starts it.

import { runCommand } from '../../src/process/cli.ts'

export interface Asked {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

const said = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (text: string | Uint8Array) => {
    said[name] += text
    return true
  }

process.on('message', async ({ args, env }: Asked) => {
  Object.assign(process.env, env)
  Object.assign(said, { stdout: '', stderr: '' })
  const code = await runCommand([...args])
  process.send!({ code, ...said })
})
